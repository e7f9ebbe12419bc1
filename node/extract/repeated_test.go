package extract

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// The same speech, heard by two wearables, becomes one set of lines: the first to arrive stays.
// Other words, another moment and another speaker make another line, and so do short ones.
func TestTwoWearablesHearOneSpeech(t *testing.T) {
	const said = "My dentist appointment is on Tuesday at four in Ghent"
	for _, c := range []struct {
		name, device, speaker, text string
		later                       time.Duration
		kept                        bool
	}{
		{"the same words", "glasses", "", said, 2 * time.Second, false},
		{"a word heard otherwise", "glasses", "", "my dentist appointment is on Tuesday at four and Ghent", 2 * time.Second, false},
		{"a part of it", "glasses", "", "appointment is on Tuesday at four in Ghent", 3 * time.Second, false},
		{"a word heard otherwise by the same wearable", "pin", "", "my dentist appointment is on Tuesday at four and Ghent", 2 * time.Second, true},
		{"later", "glasses", "", said, 10 * time.Second, true},
		{"another speaker", "glasses", "Bo", said, 2 * time.Second, true},
		{"other words", "glasses", "", "I will go to the market on Tuesday at four", 2 * time.Second, true},
		{"few words", "glasses", "", "appointment on Tuesday", time.Second, true},
	} {
		b := newBench(t)
		first := b.text(said)
		b.must(first)
		second := first
		second.ID, second.Text, second.Speaker = memory.EventID{Device: c.device, Boot: 1, Seq: 1000}, c.text, c.speaker
		second.At, second.Received = first.At.Add(c.later), first.Received.Add(c.later)
		out := b.must(second)
		repeated := len(out.Refusals) == 1 && out.Refusals[0].Kind == "repeated"
		if repeated == c.kept {
			t.Errorf("%s: %+v", c.name, out.Refusals)
		}
	}
}

// A line that exists already does not remove what was made from other lines of its recording.
func TestRepeatedLineKeepsOthers(t *testing.T) {
	facts := &script{id: "facts", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return remember("a fact of: "+ev.Text, abi.Span{Start: 0, End: len(ev.Text)}), nil
	}}
	b := newBench(t, facts)
	const said = "My dentist appointment is on Tuesday at four in Ghent"
	first := b.text(said)
	b.must(first)
	recording := &memory.Memory{ID: memory.ID{9}}
	recording.TrueFrom, recording.TrueTo = first.At, first.At.Add(10*time.Second)
	recording.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "glasses", Boot: 1, Seq: 1}, At: first.At}}
	_, err := b.x.KeepWords(t.Context(), b.w, recording, memory.Source{Plugin: EnginePlugin + "transcribe"},
		[]Spoken{{Text: "Lena is allergic to peanuts"}, {From: time.Second, Text: said}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := b.everything(); !strings.Contains(all, "a fact of: Lena is allergic to peanuts") || strings.Count(all, "said "+said) != 1 {
		t.Errorf("%s", all)
	}
}
