package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/wasm/abi"
)

// again gives a plugin the last two days.
func again(b *bench, t *testing.T, pl Plugin) ReplayResult {
	t.Helper()
	res, err := b.x.Replay(t.Context(), pl, b.at.AddDate(0, 0, -1), b.at.AddDate(0, 0, 1), b.whole)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestReplayKeepsTheScope: what was said to an agent, in a run, with metadata, is
// remembered in the same scope when it is replayed, so nothing is stored twice.
func TestReplayKeepsTheScope(t *testing.T) {
	tea := &script{id: "tea", kinds: "text", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Candidates: []abi.Candidate{{Type: "semantic", Text: "Ana drinks tea", Confidence: .9,
			Slot: &abi.Slot{Subject: "Ana", Attribute: "drink", Value: "tea"}}}}, nil
	}}
	later := &script{id: "later", kinds: "text", answer: tea.answer}
	b := newBench(t, tea)
	ev := b.text("I drink tea.")
	ev.Agent, ev.Run, ev.Metadata = "coach", "r1", memory.Metadata{"course": "tea"}
	b.must(ev)
	if res := again(b, t, tea); res.Known != 1 || len(res.Changes) != 0 {
		t.Errorf("%+v: it is there already", res)
	}
	again(b, t, later)
	err := b.store.View(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if m.Owner.Agent != "coach" || m.Owner.Run != "r1" || m.Metadata["course"] != "tea" {
				t.Errorf("%s of %s: %+v, %+v", m.Text, m.Source.Plugin, m.Owner, m.Metadata)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestReplayOfAPhoto: a photo that is replayed has its original orientation and
// place, so it results in the same memory.
func TestReplayOfAPhoto(t *testing.T) {
	scene := &script{id: "scene", kinds: "photo", answer: func(ev *abi.Event) (abi.Output, error) {
		text := fmt.Sprintf("Photo %d×%d", ev.Width, ev.Height)
		return abi.Output{Candidates: []abi.Candidate{{Type: "resource", Text: text, Title: text, MediaType: "image/png", Tags: []string{"photo"}, Confidence: 1}}}, nil
	}}
	b := newBench(t, scene)
	arrive := func(place string) {
		ev := b.event(memory.KindLocation)
		ev.Place = &memory.Place{Name: place}
		b.must(ev)
	}
	arrive("Lisbon")
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	ev := b.event(memory.KindPhoto)
	ev.Codec, ev.Data, ev.Metadata = "png", file.Bytes(), memory.Metadata{wire.MetaOrientation: "90"}
	b.must(ev)
	arrive("Porto")
	all := b.everything()
	if res := again(b, t, scene); res.Known != 1 || len(res.Changes) != 0 || b.everything() != all {
		t.Errorf("%+v\n%s", res, b.everything())
	}
	other := &script{id: "other", kinds: "photo", answer: scene.answer}
	again(b, t, other)
	if all := b.everything(); strings.Contains(all, "Photo 30×40, at Porto") {
		t.Errorf("it was not taken where the wearer is now:\n%s", all)
	}
}

// TestReplayShowsMemories: a plugin is shown memories in a replay, too.
func TestReplayShowsMemories(t *testing.T) {
	teller := &script{id: "teller", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return abi.Output{Candidates: []abi.Candidate{{Type: "semantic", Text: "Ana likes the heron", Confidence: .9}}}, nil
	}}
	c := &curious{script: script{id: "curious", kinds: "text", answer: nothing}, types: []memory.Type{memory.Semantic}}
	b := newBench(t, teller)
	b.must(b.text("I like the heron"))
	again(b, t, c)
	if len(c.saw) != 1 || len(c.saw[0].Memories) != 1 {
		t.Errorf("it saw %+v", c.saw)
	}
}

// TestTranscriptsWaitForADisabledPlugin: each text that was heard waits for a disabled plugin, like
// texts that were sent.
func TestTranscriptsWaitForADisabledPlugin(t *testing.T) {
	speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "utterance", To: sound.Rate}}}, nil
	}}
	asr := &script{id: "asr", kinds: "utterance", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "text", Text: "a heron"}, {Kind: "text", Text: "a stork"}}}, nil
	}}
	m := newMoody(true)
	b := newBench(t, speech, asr, m)
	m.disabled = true
	ev := b.event("audio")
	ev.Codec, ev.Data, ev.Last = "pcm16", make([]byte, 2*sound.Rate), true
	b.must(ev)
	if n, err := b.x.Deferred(t.Context(), "moody"); err != nil || n != 2 {
		t.Fatalf("%d wait, %v", n, err)
	}
	m.disabled, m.saw = false, nil
	if _, err := b.x.CatchUp(t.Context(), b.w, m, 10); err != nil {
		t.Fatal(err)
	}
	if len(m.saw) != 2 || m.saw[0].Text != "a heron" || m.saw[1].Text != "a stork" {
		t.Errorf("it saw %+v", m.saw)
	}
}

// TestUnscannedLineIsNotReplayed: a line that is quarantined unread can't be given
// to a plugin later, and does not count as waiting.
func TestUnscannedLineIsNotReplayed(t *testing.T) {
	m := newMoody(true)
	m.first = true
	b := newBench(t, m)
	m.disabled = true
	b.must(b.text("a heron"))
	if n, err := b.x.Deferred(t.Context(), "moody"); err != nil || n != 0 {
		t.Errorf("%d wait, %v", n, err)
	}
}

// TestPlacesAndButtons: plugins that ask for them are given the wearer's places
// and button presses.
func TestPlacesAndButtons(t *testing.T) {
	pl := &script{id: "walks", kinds: "location button", answer: func(ev *abi.Event) (abi.Output, error) {
		return abi.Output{Candidates: []abi.Candidate{{Type: "episodic", Text: "Walked by " + ev.Name, Confidence: .9}}}, nil
	}}
	b := newBench(t, pl)
	ev := b.event(memory.KindLocation)
	ev.Place = &memory.Place{Name: "Lisbon", Lat: 38.7, Lon: -9.1, Accuracy: 12}
	b.must(ev)
	press := b.event(memory.KindButton)
	press.Name, press.Values = "main", []float64{1}
	b.must(press)
	if len(pl.saw) != 2 || pl.saw[0].Kind != "location" || pl.saw[0].Name != "Lisbon" || fmt.Sprint(pl.saw[0].Values) != "[38.7 -9.1 12]" ||
		pl.saw[1].Kind != "button" || pl.saw[1].Name != "main" {
		t.Errorf("it saw %+v", pl.saw)
	}
	if all := b.everything(); !strings.Contains(all, "Walked by Lisbon") || !strings.Contains(all, "Marked by button") {
		t.Error(all)
	}
}

// TestForgetWaitingEvents: forgotten data is removed from what waits for a plugin,
// and from the traces; the same for a forgotten place.
func TestForgetWaitingEvents(t *testing.T) {
	m := newMoody(true)
	m.kinds = "text sensor location"
	b := newBench(t, m)
	m.disabled = true
	reading := b.event(memory.KindSensor)
	reading.Name, reading.Values = "pulse", []float64{61}
	here := b.event(memory.KindLocation)
	here.Place = &memory.Place{Name: "Lisbon", Lat: 38.7}
	stays := b.text("a heron")
	for _, ev := range []memory.Event{reading, here, stays} {
		b.must(ev)
	}
	if _, err := b.x.Forget(t.Context(), b.w, Forgotten{Events: []memory.EventID{reading.ID}, Places: []string{"lisbon"}, Latest: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.x.TraceOf(t.Context(), reading.ID); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("the trace of what is forgotten: %v", err)
	}
	if _, err := b.x.TraceOf(t.Context(), stays.ID); err != nil {
		t.Errorf("the trace of what stays: %v", err)
	}
	m.disabled, m.saw = false, nil
	if _, err := b.x.CatchUp(t.Context(), b.w, m, 10); err != nil {
		t.Fatal(err)
	}
	if len(m.saw) != 1 || m.saw[0].Text != "a heron" {
		t.Errorf("it saw %+v", m.saw)
	}
}

// TestTraceHasNoWords: a plugin can't store words in a trace by using them as names
// of notes.
func TestTraceHasNoWords(t *testing.T) {
	parrot := &script{id: "parrot", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return abi.Output{Annotations: []abi.Annotation{{Kind: ev.Text}, {Kind: "language", Text: "en"}}}, nil
	}}
	b := newBench(t, parrot)
	ev := b.text("a heron")
	b.must(ev)
	got, err := b.x.TraceOf(t.Context(), ev.ID)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(got); strings.Contains(string(text), "heron") || fmt.Sprint(got.Steps[0].Annotations) != "[other language]" {
		t.Errorf("%s", text)
	}
}
