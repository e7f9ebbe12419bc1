package speech

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// heard is an engine that hears word i of a text from second i on; each lasts 0.8 s, and a word
// that is cut by a window's edge is not heard. The sound contains the number of the second.
type heard struct {
	words []string
	times bool
	lens  []time.Duration
	langs []string
	fail  int // number of the window that fails, from 1
}

func (h *heard) Name() string { return "heard" }

func (h *heard) Transcribe(_ context.Context, wav []byte, hint Hints) (Transcript, error) {
	sound, err := pcm("heard", wav)
	if err != nil {
		return Transcript{}, err
	}
	h.lens, h.langs = append(h.lens, lasting(len(sound))), append(h.langs, hint.Lang)
	if len(h.lens) == h.fail {
		return Transcript{}, engine.Faultf("heard", engine.Gone, "lost")
	}
	t := Transcript{Lang: "en"}
	var words []Word
	last := -1
	for i := 0; i+1 < len(sound); i += 2 {
		n := int(sound[i]) | int(sound[i+1])<<8
		if n == last || n >= len(h.words) {
			continue
		}
		last = n
		// Whole words only: 0.8 s of this second have to be there.
		end := i + 2*Rate*8/10
		if i > 0 || lasting(i) == 0 {
			if end > len(sound) || int(sound[end-2])|int(sound[end-1])<<8 != n {
				continue
			}
			words = append(words, Word{From: lasting(i), To: lasting(end), Text: h.words[n], Confidence: 1})
		}
	}
	for _, w := range words {
		t.Text += " " + w.Text
	}
	t.Text = strings.TrimSpace(t.Text)
	if h.times && len(words) > 0 {
		t.Segments = []Segment{{From: words[0].From, To: words[len(words)-1].To, Text: t.Text, Confidence: 1, Words: words}}
	}
	return t, nil
}

// recording has as many seconds as words; each sample is the number of its second.
func recording(n int) []byte {
	b := make([]byte, 0, n*Rate*2)
	for i := range n {
		b = append(b, slices.Repeat([]byte{byte(i), byte(i >> 8)}, Rate)...)
	}
	return plainWAV(b)
}

// Joined windows have every word once, in order, whichever way they are joined.
func TestWindowsJoin(t *testing.T) {
	for _, times := range []bool{true, false} {
		var words []string
		for i := range 40 {
			words = append(words, fmt.Sprintf("w%d", i))
		}
		h := &heard{words: words, times: times}
		w := &Windows{Engine: h, Window: 10 * time.Second, Overlap: 3 * time.Second}
		got, err := w.Transcribe(t.Context(), recording(40), Hints{})
		if err != nil || got.Text != strings.Join(words, " ") {
			t.Errorf("times %v: %q, %v", times, got.Text, err)
		}
		if len(h.lens) < 5 || slices.Max(h.lens) > 13*time.Second || h.langs[0] != "" || h.langs[1] != "en" {
			t.Errorf("%v %q", h.lens, h.langs)
		}
		if times {
			at := time.Duration(-1)
			for _, s := range got.Segments {
				for _, x := range s.Words {
					if x.From <= at {
						t.Errorf("%+v after %s", x, at)
					}
					at = x.From
				}
			}
		}
	}
}

func TestWindowsOfAShortRecording(t *testing.T) {
	h := &heard{words: []string{"one", "two"}}
	w := &Windows{Engine: h, Window: 10 * time.Second, Overlap: 2 * time.Second}
	if got, err := w.Transcribe(t.Context(), recording(12), Hints{}); err != nil || got.Text != "one two" || len(h.lens) != 1 {
		t.Errorf("%+v, %v, %v", got, err, h.lens)
	}
	h = &heard{words: []string{"one"}, fail: 2}
	w.Engine = h
	var f *engine.Fault
	if got, err := w.Transcribe(t.Context(), recording(30), Hints{}); !errors.As(err, &f) || got.Text != "" {
		t.Errorf("half a transcript: %+v, %v", got, err)
	}
	if _, err := w.Transcribe(t.Context(), []byte("no sound"), Hints{}); !errors.As(err, &f) || f.Kind != engine.Refused {
		t.Error(err)
	}
}

func TestJoinTexts(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"and so my fellow", "my fellow Americans", "and so my fellow Americans"},
		{"and so my fellow Amer", "my fellow Americans, ask", "and so my fellow Americans, ask"},
		{"Ask not what.", "What your country", "Ask not what your country"},
		{"one two", "three four", "one two three four"},
		{"the cat", "a dog and the bird", "the cat a dog and the bird"},
		{"我们明天去", "明天去公园。", "我们明天去公园。"},
		{"", "hello", "hello"}, {"hello", "", "hello"}, {"", "", ""},
	} {
		if got := joinTexts(c.a, c.b, 2*time.Second); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// For any two texts, the beginning of the first and the end of the second stay; the halves of a
// text join to that text.
func TestJoinTextsKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 30).Draw(t, "words")
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf("w%d", i))
		}
		from := rapid.IntRange(1, n-2).Draw(t, "from")
		to := rapid.IntRange(from+2, n).Draw(t, "to")
		a, b := strings.Join(words[:to], " "), strings.Join(words[from:], " ")
		if got, want := joinTexts(a, b, time.Duration(to-from)*time.Second), strings.Join(words, " "); got != want {
			t.Fatalf("%q and %q: %q", a, b, got)
		}
		x, y := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		joinTexts(strings.ToValidUTF8(x, ""), strings.ToValidUTF8(y, ""), time.Second)
	})
}

func TestTurns(t *testing.T) {
	tr := Transcript{Text: "Hi. Hello. How are you?", Segments: []Segment{{Text: "Hi.", Speaker: "A"}, {Text: "Hello.", Speaker: "B"}, {Text: "How are you?", Speaker: "B"}}}
	if got := tr.Turns(); got != "A: Hi.\nB: Hello. How are you?" {
		t.Errorf("%q", got)
	}
	tr.Segments = tr.Segments[1:]
	if got := tr.Turns(); got != tr.Text {
		t.Errorf("one speaker: %q", got)
	}
}

func TestWordsAndSpeakers(t *testing.T) {
	s := serveWhisper(t, verbose)
	got, err := (&WhisperCPP{engine.Service{URL: s.URL}}).Transcribe(t.Context(), audio.Speech(), Hints{})
	if w := got.Segments[0].Words; err != nil || len(w) != 1 || w[0].Text != " And" || w[0].From != 320*time.Millisecond || w[0].Confidence != 0.7 {
		t.Errorf("%+v, %v", got, err)
	}
	s = serveWhisper(t, `{"text":"Hi there","language":"english","words":[{"word":"Hi","start":0.1,"end":0.4},{"word":"there","start":2,"end":2.4}],
		"segments":[{"start":0,"end":1,"text":"Hi"},{"start":1,"end":3,"text":"there"}]}`)
	got, err = (&OpenAI{Service: engine.Service{URL: s.URL}}).Transcribe(t.Context(), audio.Speech(), Hints{})
	if err != nil || len(got.Segments) != 2 || len(got.Segments[1].Words) != 1 || got.Segments[1].Words[0].Text != "there" || got.Segments[1].Words[0].Confidence != Unknown {
		t.Errorf("%+v, %v", got, err)
	}
	s = serveWhisper(t, `{"text":"Hi. Hello.","segments":[{"id":"seg_0","start":0,"end":1,"text":"Hi.","speaker":"A"},{"id":"seg_1","start":1,"end":2,"text":"Hello.","speaker":"B\u0007"}]}`)
	got, err = (&OpenAI{Service: engine.Service{URL: s.URL}, Model: "gpt-4o-transcribe-diarize"}).Transcribe(t.Context(), audio.Speech(), Hints{Names: []string{"Mei"}})
	if err != nil || got.Turns() != "A: Hi.\nB: Hello." || s.form["response_format"] != "diarized_json" || s.form["chunking_strategy"] != "auto" || s.form["prompt"] != "" {
		t.Errorf("%q, %v, %v", got.Turns(), err, s.form)
	}
	for _, bad := range []string{`{"text":"x","words":[{"word":"x","start":-1,"end":2}]}`, `{"text":"x","segments":[{"start":0,"end":1,"text":"x","words":[{"word":"x","start":3,"end":2}]}]}`} {
		s = serveWhisper(t, bad)
		_, err = (&OpenAI{Service: engine.Service{URL: s.URL}}).Transcribe(t.Context(), audio.Speech(), Hints{})
		fault(t, err, engine.Babbled, "word 0")
	}
}
