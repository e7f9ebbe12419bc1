package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/wasm/abi"
)

// TestSpeechToMemory: sound becomes an utterance, that a text, and that a memory, all
// with the event of the sound. The secrets plugin sees the text before any other. The
// same event again has the same result.
func TestSpeechToMemory(t *testing.T) {
	speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "utterance", From: 0, To: sound.Rate}}}, nil
	}}
	asr := &script{id: "asr", kinds: "utterance", answer: func(ev *abi.Event) (abi.Output, error) {
		if len(ev.PCM) != 2*sound.Rate {
			return abi.Output{}, fmt.Errorf("%d bytes of sound", len(ev.PCM))
		}
		return abi.Output{Derived: []abi.Derived{{Kind: "text", Text: "I saw a heron near tulip-42."}, {Kind: "utterance", To: 1}}}, nil
	}}
	secrets := &script{id: "secrets", first: true, kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		i := strings.Index(ev.Text, "tulip-42")
		return abi.Output{Redactions: []abi.Redaction{{Span: abi.Span{Start: i, End: i + 8}, Kind: "code"}}}, nil
	}}
	facts := &script{id: "facts", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return remember("Ana: "+ev.Text, abi.Span{Start: 0, End: 5}), nil
	}}
	b := newBench(t, facts, asr, secrets, speech)
	ev := b.event("audio")
	ev.Codec, ev.Data, ev.Last = "pcm16", make([]byte, 2*sound.Rate), true
	b.must(ev)
	all := b.everything()
	for _, want := range []string{"said I saw a heron near [code].", "semantic active Ana: I saw a heron near [code].", "Recording of 1.0 s of speech", "refused invalid derived utterance"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "tulip") || strings.Contains(all, WaitingText) || len(facts.saw) != 1 || strings.Contains(facts.saw[0].Text, "tulip") {
		t.Errorf("%s\nfacts saw %+v", all, facts.saw)
	}
	trace, err := b.x.TraceOf(t.Context(), ev.ID)
	if err != nil {
		t.Fatal(err)
	}
	way := ""
	for _, s := range trace.Steps {
		way += fmt.Sprintf("%s %s %d, ", s.Plugin, s.Given, s.Depth)
	}
	if way != "speech audio 0, asr utterance 1, secrets text 2, facts text 2, " {
		t.Errorf("its way: %s", way)
	}
	if out := b.must(ev); !out.Repeated || b.everything() != all {
		t.Error("the same event again changed something")
	}
}

// TestUtteranceOfTooManyTexts: the number of texts of one utterance is limited.
func TestUtteranceOfTooManyTexts(t *testing.T) {
	speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "utterance", To: sound.Rate}}}, nil
	}}
	asr := &script{id: "asr", kinds: "utterance", answer: func(*abi.Event) (abi.Output, error) {
		var out abi.Output
		for i := range maxSpoken + 3 {
			out.Derived = append(out.Derived, abi.Derived{Kind: "text", Text: fmt.Sprintf("text %d", i)})
		}
		return out, nil
	}}
	b := newBench(t, asr, speech)
	ev := b.event("audio")
	ev.Codec, ev.Data, ev.Last = "pcm16", make([]byte, 2*sound.Rate), true
	b.must(ev)
	if all := b.everything(); strings.Count(all, "said text") != maxSpoken || strings.Count(all, "refused invalid derived text") != 3 {
		t.Errorf("%s", all)
	}
}

// A plugin that reads words finds none in sound, which says nothing about what was
// said.
func TestSoundWithoutWordsIsNotRefused(t *testing.T) {
	speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "utterance", From: 0, To: sound.Rate}}}, nil
	}}
	words := &script{id: "facts", kinds: "utterance", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Refusals: []abi.Refusal{{Kind: "boilerplate", Reason: "there is no text"}, {Kind: "noise", Reason: "a drill"}}}, nil
	}}
	b := newBench(t, speech, words)
	ev := b.event("audio")
	ev.Codec, ev.Data, ev.Last = "pcm16", make([]byte, 2*sound.Rate), true
	b.must(ev)
	if all := b.everything(); strings.Contains(all, "boilerplate") || !strings.Contains(all, "refused noise a drill") {
		t.Errorf("%s", all)
	}
}
