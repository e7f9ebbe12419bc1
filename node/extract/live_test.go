package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/wasm/abi"
)

// listened records what Live is told, in tenths of a second.
type listened []string

func (l *listened) Hear(_ string, fresh bool, pcm []int16) {
	word := "more"
	if fresh {
		word = "new"
	}
	*l = append(*l, fmt.Sprintf("%s %d", word, len(pcm)*10/sound.Rate))
}
func (l *listened) EndAsRecording(_ string, _ memory.ID) { *l = append(*l, "became") }
func (l *listened) Drop(string)                          { *l = append(*l, "drop") }

// An engine is given one utterance while it is spoken, from its beginning to its end, and nothing
// that is also in the next recording.
func TestLiveTranscript(t *testing.T) {
	type second struct {
		speech   bool
		from, to float64 // of an utterance that is cut, in seconds from the start of this second; to 0: none
		last     bool
	}
	quiet, talk := second{}, second{speech: true}
	long := []second{}
	for range 19 {
		long = append(long, talk)
	}
	for _, c := range []struct {
		name string
		day  []second
		old  time.Duration // how long ago it was received
		want string
	}{
		{"an utterance", []second{quiet, talk, talk, {speech: true, from: -2.2, to: 0.4}, quiet}, 0, "new 15, more 10, more 4, became"},
		{"its end found late", []second{talk, talk, {from: -2, to: -0.4}}, 0, "new 10, more 10, became"},
		{"two in a row", []second{talk, {speech: true, from: -1, to: 0.2}, talk, {speech: true, from: -1.5, to: 0.5}}, 0, "new 10, more 2, became, new 18, more 5, became"},
		{"cut in the midst of speech", append(long, second{speech: true, from: -19, to: -0.5}), 0, "new 10" + strings.Repeat(", more 10", 18) + ", drop, new 15"},
		{"the end of the stream", []second{talk, {speech: true, from: -1, to: 1, last: true}}, 0, "new 10, more 10, became"},
		{"no utterance after all", []second{talk, quiet, quiet}, 0, "new 10, more 10, drop"},
		{"begun before it was noticed", []second{quiet, quiet, talk, {speech: true, from: -2, to: 0.5}}, 0, "new 15, drop"},
		{"within one message", []second{quiet, {speech: true, from: 0.1, to: 0.3}, quiet}, 0, ""},
		{"stored earlier", []second{talk, {speech: true, from: -1, to: 0.5}}, time.Minute, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var now second
			speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (out abi.Output, err error) {
				if now.speech {
					out.Annotations = []abi.Annotation{{Kind: "speech", Number: 1}}
				}
				if now.to != 0 {
					out.Derived = []abi.Derived{{Kind: "utterance", From: int64(now.from * sound.Rate), To: int64(now.to * sound.Rate)}}
				}
				return out, nil
			}}
			b := newBench(t, speech)
			var got listened
			b.x.SetLive(&got)
			began := time.Now().Add(-c.old)
			for i, s := range c.day {
				now = s
				ev := b.event(memory.KindAudio)
				ev.At, ev.Received = began.Add(time.Duration(i)*time.Second), began
				ev.Codec, ev.Data, ev.Last = "pcm16", make([]byte, 2*sound.Rate), s.last
				b.must(ev)
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%s\nwant %s", s, c.want)
			}
		})
	}
}

// An utterance that is forgotten while it is spoken is not heard any further. If an event could
// not be committed, its sound is heard when the event comes again.
func TestForgottenUtteranceIsNotTranscribed(t *testing.T) {
	speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Annotations: []abi.Annotation{{Kind: "speech", Number: 1}}}, nil
	}}
	b := newBench(t, speech)
	var got listened
	b.x.SetLive(&got)
	ev := b.event(memory.KindAudio)
	ev.At, ev.Received, ev.Codec, ev.Data = time.Now(), time.Now(), "pcm16", make([]byte, 2*sound.Rate)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.x.Process(gone, b.w, ev); err == nil || len(got) != 0 {
		t.Fatalf("%v, %v", got, err)
	}
	b.must(ev)
	if _, err := b.x.Forget(t.Context(), b.w, Forgotten{Events: []memory.EventID{ev.ID}}); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, ", "); s != "new 10, drop" {
		t.Error(s)
	}
}

// turnsOf returns these turns for an utterance.
type turnsOf []Voice

func (v turnsOf) Turns(string, time.Time, []int16) []Voice { return v }
func (turnsOf) Save(*store.Tx) error                       { return nil }
func (turnsOf) OnSaved()                                   {}

// If several voices speak in an utterance, the words that were heard live belong to none of its
// recordings, however short one of them is. If only known voices are kept, nothing is heard live.
func TestLiveTranscriptWithSeveralVoices(t *testing.T) {
	const long, all = 17 * sound.Rate / 10, 2 * sound.Rate // of two seconds, the other voice says the last 0.3 s
	for _, c := range []struct {
		name      string
		turns     turnsOf
		knownOnly bool
		want      string
		kept      int
	}{
		{"one voice", turnsOf{{To: all, Speaker: "Ana"}}, false, "new 10, more 10, became", 1},
		{"another at the end", turnsOf{{To: long, Speaker: "Ana"}, {From: long, To: all, Speaker: "S1"}}, false, "new 10, more 10, drop", 2},
		{"another at the beginning", turnsOf{{To: all - long, Speaker: "S1"}, {From: all - long, To: all, Speaker: "Ana"}}, false, "new 10, more 10, drop", 2},
		{"one known voice", turnsOf{{To: all, Speaker: "Ana"}}, true, "", 1},
		{"a stranger", turnsOf{{To: all, Speaker: memory.Someone, Stranger: true}}, true, "", 0},
		{"a stranger before", turnsOf{{To: all - long, Speaker: memory.Someone, Stranger: true}, {From: all - long, To: all, Speaker: "Ana"}}, true, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (out abi.Output, err error) {
				if n++; n < 3 {
					out.Annotations = []abi.Annotation{{Kind: "speech", Number: 1}}
				} else {
					out.Derived = []abi.Derived{{Kind: "utterance", From: -2 * sound.Rate, To: 0}}
				}
				return out, nil
			}}
			b := newBench(t, speech)
			b.x.cfg.Voices, b.x.cfg.KnownOnly = c.turns, c.knownOnly
			var got listened
			b.x.SetLive(&got)
			began := time.Now()
			for i := range 3 {
				ev := b.event(memory.KindAudio)
				ev.At, ev.Received, ev.Codec, ev.Data = began.Add(time.Duration(i)*time.Second), began, "pcm16", make([]byte, 2*sound.Rate)
				b.must(ev)
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%s\nwant %s", s, c.want)
			}
			if kept := strings.Count(b.everything(), "resource active"); kept != c.kept {
				t.Errorf("%d recordings, want %d:\n%s", kept, c.kept, b.everything())
			}
		})
	}
}
