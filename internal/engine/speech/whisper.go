package speech

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/llm"
)

// WhisperCPP asks the server that comes with whisper.cpp (examples/server):
// POST /inference.
type WhisperCPP struct {
	Service engine.Service // URL is the server's, without a path
}

const whisperCPP = "whisper.cpp"

// Name returns "whisper.cpp": the server does not report its model.
func (w *WhisperCPP) Name() string { return whisperCPP }

// Transcribe requests verbose JSON, and makes the server detect the language if there is no hint.
func (w *WhisperCPP) Transcribe(ctx context.Context, wav []byte, hint Hints) (Transcript, error) {
	if _, err := pcm(whisperCPP, wav); err != nil {
		return Transcript{}, err
	}
	s := w.Service
	s.Engine, s.URL = whisperCPP, strings.TrimRight(s.URL, "/")+"/inference"
	lang := cmp.Or(primary(hint.Lang), "auto")
	form := []engine.Field{
		{Key: "file", Name: "recording.wav", Data: wav},
		{Key: "response_format", Value: "verbose_json"},
		{Key: "temperature", Value: "0.0"},
		{Key: "language", Value: lang},
	}
	return whisper(ctx, &s, prompted(form, hint))
}

// OpenAI asks a service that is compatible with OpenAI's
// POST /v1/audio/transcriptions.
type OpenAI struct {
	Service engine.Service // URL is the base, with or without /v1
	Model   string         // empty: whisper-1
}

const openAI = "openai"

// ModelName returns the model's name, by which a service has its price.
func (o *OpenAI) ModelName() string { return cmp.Or(o.Model, "whisper-1") }

// Name returns "openai" and the model.
func (o *OpenAI) Name() string { return openAI + " " + o.ModelName() }

// Transcribe requests verbose JSON, or plain JSON from the models that have no other
// (gpt-4o-transcribe and similar ones).
func (o *OpenAI) Transcribe(ctx context.Context, wav []byte, hint Hints) (Transcript, error) {
	if _, err := pcm(openAI, wav); err != nil {
		return Transcript{}, err
	}
	s := o.Service
	s.Engine, s.URL = openAI, V1(s.URL)+"/audio/transcriptions"
	form := []engine.Field{
		{Key: "file", Name: "recording.wav", Data: wav},
		{Key: "model", Value: o.ModelName()},
		{Key: "temperature", Value: "0"},
	}
	switch {
	case strings.Contains(o.ModelName(), "diarize"): // this one distinguishes speakers, and takes no prompt
		form = append(form, engine.Field{Key: "response_format", Value: "diarized_json"}, engine.Field{Key: "chunking_strategy", Value: "auto"})
		hint.Names = nil
	case strings.HasPrefix(o.ModelName(), "gpt-"):
		form = append(form, engine.Field{Key: "response_format", Value: "json"})
	default:
		form = append(form, engine.Field{Key: "response_format", Value: "verbose_json"},
			engine.Field{Key: "timestamp_granularities[]", Value: "segment"}, engine.Field{Key: "timestamp_granularities[]", Value: "word"})
	}
	if lang := primary(hint.Lang); lang != "" {
		form = append(form, engine.Field{Key: "language", Value: lang})
	}
	return whisper(ctx, &s, prompted(form, hint))
}

// V1 returns the base address of an OpenAI-compatible service, which ends in /v1.
func V1(base string) string {
	base = strings.TrimRight(base, "/")
	if strings.HasSuffix(base, "/v1") {
		return base
	}
	return base + "/v1"
}

// prompted adds names as the prompt, which Whisper takes for what was said before.
func prompted(form []engine.Field, hint Hints) []engine.Field {
	if len(hint.Names) == 0 {
		return form
	}
	return append(form, engine.Field{Key: "prompt", Value: strings.Join(hint.Names, ", ") + "."})
}

// whisperAnswer is the answer of both kinds of server, in JSON or verbose JSON. Error is a text of
// whisper.cpp, which some versions send with status 200.
type whisperAnswer struct {
	Text     *string `json:"text"`
	Language string  `json:"language"`
	Error    any     `json:"error"`
	Segments []struct {
		Start, End float64
		Text       string
		AvgLogprob *float64      `json:"avg_logprob"`
		Speaker    label         `json:"speaker"` // in diarized JSON, and in WhisperX's
		Words      []whisperWord `json:"words"`   // whisper.cpp's
	} `json:"segments"`
	Words []whisperWord `json:"words"` // OpenAI's, for all segments
	Usage struct {      // OpenAI's: absent, or with seconds, if it is paid by the minute
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

type whisperWord struct {
	Word        string
	Speaker     label // WhisperX's
	Start, End  float64
	Probability *float64
}

// timedWords converts an answer's words, and fails on impossible times.
func timedWords(name string, list []whisperWord) (out []Word, err error) {
	for i, w := range list {
		if !(w.Start >= 0 && w.End >= w.Start && w.End < 1e6) {
			return nil, engine.Faultf(name, engine.Babbled, "word %d goes from %v to %v s", i, w.Start, w.End)
		}
		c := float64(Unknown)
		if w.Probability != nil {
			c = *w.Probability
		}
		out = append(out, Word{From: seconds(w.Start), To: seconds(w.End), Text: w.Word, Confidence: c})
	}
	return out, nil
}

// within returns the words whose middle is in a segment.
func within(words []Word, from, to time.Duration) (out []Word) {
	for _, w := range words {
		if mid := (w.From + w.To) / 2; mid >= from && mid < to {
			out = append(out, w)
		}
	}
	return out
}

func whisper(ctx context.Context, s *engine.Service, form []engine.Field) (Transcript, error) {
	var a whisperAnswer
	if err := s.PostForm(ctx, form, &a); err != nil {
		return Transcript{}, err
	}
	if a.Error != nil {
		return Transcript{}, engine.Faultf(s.Engine, engine.Refused, "%v", a.Error)
	}
	if a.Text == nil {
		return Transcript{}, engine.Faultf(s.Engine, engine.Babbled, "an answer without text")
	}
	if len(a.Segments) > MaxSegments || len(a.Words) > MaxWords {
		return Transcript{}, engine.Faultf(s.Engine, engine.Babbled, "%d segments and %d words", len(a.Segments), len(a.Words))
	}
	t, sum := Transcript{Text: *a.Text, Lang: a.Language, Used: llm.Usage{Prompt: a.Usage.Input, Completion: a.Usage.Output}}, 0
	all, err := timedWords(s.Engine, a.Words)
	if err != nil {
		return Transcript{}, err
	}
	for i, g := range a.Segments {
		if !(g.Start >= 0 && g.End >= g.Start && g.End < 1e6) {
			return Transcript{}, engine.Faultf(s.Engine, engine.Babbled, "segment %d goes from %v to %v s", i, g.Start, g.End)
		}
		c := float64(Unknown)
		if g.AvgLogprob != nil {
			c = math.Exp(min(*g.AvgLogprob, 0))
		}
		words, err := timedWords(s.Engine, g.Words)
		if err != nil {
			return Transcript{}, err
		}
		if len(g.Words) == 0 {
			words = within(all, seconds(g.Start), seconds(g.End))
		}
		if sum += len(words); sum > MaxWords { // overlapping segments have the same words
			return Transcript{}, engine.Faultf(s.Engine, engine.Babbled, "more than %d words with times", MaxWords)
		}
		t.Segments = append(t.Segments, Segment{From: seconds(g.Start), To: seconds(g.End), Text: g.Text, Confidence: c, Speaker: speakerOf(g.Speaker, g.Words), Words: words})
	}
	t.parted()
	return checked(s.Engine, t)
}
