package engines

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/editdistance"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/engine/trial"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
)

// Sample is what an engine answered when it was tried.
type Sample struct {
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
	Words   int       `json:"words"`
	Seconds float64   `json:"seconds"`
	Factor  float64   `json:"factor,omitempty"` // for ears: seconds of work for a second of sound
	Error   string    `json:"error,omitempty"`  // why the last trial failed
	Said    string    `json:"said,omitempty"`   // what the sample says, if the answer is far from it
}

// maxSampleText is how much of an answer is stored, in bytes.
const maxSampleText = 200

// SampleTime is how long an engine may take for a sample. The engine may have to load its model first.
const SampleTime = 3 * time.Minute

// Try makes an engine work on a sample: three seconds of speech, a page of print, or a question for
// a mind. An engine that is not on this machine gets no data of the wearer. An error is an
// *engine.Fault, or that of ctx.
func Try(ctx context.Context, p *Process, s *Spec, now time.Time) (*Sample, error) {
	limit, cancel := context.WithTimeout(ctx, SampleTime)
	defer cancel()
	v, err := try(limit, p, s, now)
	if err != nil && ctx.Err() == nil && limit.Err() != nil {
		err = engine.Faultf(s.Name(), engine.Slow, "no answer to the sample in %.0f minutes", SampleTime.Minutes())
	}
	return v, err
}

func try(ctx context.Context, p *Process, s *Spec, now time.Time) (*Sample, error) {
	if s.Kind == Mind {
		return tryMind(ctx, s, now)
	}
	if err := s.suits(ctx, p.Langs); err != nil {
		return nil, err
	}
	j := Job{Spec: *s}
	var sound time.Duration
	var says string // empty: a caption may be anything
	var err error
	switch s.Work() {
	case result.Transcribe:
		j.Media, err = sampleSpeech()
		j.Lang, says = "en", trial.Said
		sound = speech.Length(j.Media)
	case result.Read:
		j.Media, err = trial.Page()
		says = trial.Printed
	default:
		j.Media, err = trial.Page()
	}
	if err != nil {
		return nil, err
	}
	began := time.Now()
	a, err := p.Do(ctx, j)
	if err != nil {
		return nil, err
	}
	v := sampleOf(a.Text, time.Since(began), now)
	if sound > 0 {
		v.Factor = v.Seconds / sound.Seconds()
	}
	if says != "" && far(says, a.Text) {
		v.Said = says
	}
	return v, nil
}

// sampleSpeech returns the beginning of the trial's recording as a WAV file, which is what engines
// take.
func sampleSpeech() ([]byte, error) {
	file, err := trial.Speech()
	if err != nil {
		return nil, err
	}
	const most = int(trial.Spoken * sound.Rate / time.Second)
	pcm, err := new(sound.Decoder).Ogg(file, most)
	if err != nil {
		return nil, err
	}
	return sound.ToWAV(pcm[:min(len(pcm), most)]), nil
}

// far reports whether an answer has little to do with what a sample says: more than half of the
// letters would have to change. Case, punctuation and where words part do not count. PocketSphinx,
// the weakest engine, gets a fifth of the letters of [trial.Said] wrong; other words have two thirds
// and more of them wrong.
func far(says, heard string) bool {
	a, b := letters(says), letters(heard)
	if len(b) > 2*len(a) {
		return true
	}
	return 2*editdistance.Of(a, b) > len(a)
}

// letters returns the letters and digits of a text, in lower case.
func letters(s string) []rune {
	return slices.DeleteFunc([]rune(strings.ToLower(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func sampleOf(text string, took time.Duration, now time.Time) *Sample {
	words := strings.Fields(text)
	return &Sample{At: now.UTC(), Text: memory.Cut(strings.Join(words, " "), maxSampleText), Words: len(words), Seconds: took.Seconds()}
}

func tryMind(ctx context.Context, s *Spec, now time.Time) (*Sample, error) {
	c, err := llm.New(llm.Config{URL: s.URL, Model: s.Model, Key: s.Key, Timeout: seeTime, Tries: 1})
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSpec, err)
	}
	began := time.Now()
	a, err := c.Ask(ctx, llm.Request{System: "You answer in one short sentence.", Messages: llm.FromUser("What is a memory?")})
	if err != nil {
		return nil, faultOf(s, err)
	}
	return sampleOf(a.Text, time.Since(began), now), nil
}
