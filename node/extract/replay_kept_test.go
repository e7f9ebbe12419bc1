package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/wasm/abi"
)

// A plugin that is added later is given the recordings that are kept: what it
// hears in one goes through the chain, in its session, once, and the present
// continues.
func TestReplayOfRecordings(t *testing.T) {
	speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "utterance", From: 0, To: sound.Rate}}}, nil
	}}
	secrets := &script{id: "secrets", first: true, kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		i := strings.Index(ev.Text, "tulip-42")
		if i < 0 {
			return abi.Output{}, nil
		}
		return abi.Output{Redactions: []abi.Redaction{{Span: abi.Span{Start: i, End: i + 8}, Kind: "code"}}}, nil
	}}
	facts := &script{id: "facts", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return remember("heard: "+ev.Text, abi.Span{Start: 0, End: 5}), nil
	}}
	b := newBench(t, facts, secrets, speech)
	b.must(b.text("Look over there."))
	ev := b.event(memory.KindAudio)
	ev.Codec, ev.Rate, ev.Data, ev.Last = "pcm16", sound.Rate, make([]byte, 4*sound.Rate), true
	for i := range ev.Data {
		ev.Data[i] = byte(i >> 3)
	}
	b.must(ev)
	b.must(b.text("Thank you."))
	if all := b.everything(); !strings.Contains(all, WaitingText) {
		t.Fatalf("%s", all)
	}
	session, facts0 := b.x.session.saved, len(facts.saw)
	asr := &script{id: "asr", kinds: "utterance", answer: func(ev *abi.Event) (abi.Output, error) {
		if len(ev.PCM) != 2*sound.Rate || ev.Rate != sound.Rate || !ev.Last || ev.PCM[800] != byte(800>>3) {
			return abi.Output{}, fmt.Errorf("%d bytes of sound", len(ev.PCM))
		}
		out := remember("a bird is heard")
		out.Derived = []abi.Derived{{Kind: "text", From: 0, To: 100, Text: "I saw a heron near tulip-42."}, {Kind: "text", Text: " "}}
		return out, nil
	}}
	res := again(b, t, asr)
	if res.Events != 1 || res.Faults != 0 || len(res.Transcribed) != 1 || len(res.Changes) != 2 {
		t.Fatalf("%+v", res)
	}
	after := b.everything()
	for _, want := range []string{"said I saw a heron near [code].", "heard: I saw a heron near [code].", "a bird is heard"} {
		if strings.Count(after, want) != 1 {
			t.Errorf("%q in\n%s", want, after)
		}
	}
	if last := facts.saw[len(facts.saw)-1]; len(facts.saw) != facts0+1 || len(last.Before) != 1 || last.Before[0].Text != "Look over there." {
		t.Errorf("given %+v", last)
	}
	if b.x.session.saved != session || strings.Contains(after, "tulip") {
		t.Errorf("%+v\n%s", b.x.session.saved, after)
	}
	claims := func() (n int) {
		t.Helper()
		err := b.store.View(t.Context(), func(tx *store.Tx) error {
			for m, err := range tx.Memories(store.Filter{}) {
				if err != nil {
					return err
				}
				as, err := tx.Assertions(m.ID)
				if err != nil {
					return err
				}
				n += len(as)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	said := claims()
	// A crash before the recording was marked as no longer waiting: nothing is
	// stored twice.
	if res := again(b, t, asr); res.Known != 1 || len(res.Changes) != 0 || b.everything() != after || claims() != said {
		t.Errorf("again: %+v, %d assertions of %d\n%s", res, claims(), said, b.everything())
	}
	// A recording that has its words is not transcribed again.
	e := past{made: res.Transcribed[0], event: memory.Event{ID: ev.ID, At: ev.At}}
	if err := b.x.wordsAgain(t.Context(), b.w, asr, &e, []abi.Derived{{Kind: "text", Text: "I saw a crane."}}, new(ReplayResult)); err != nil || b.everything() != after {
		t.Errorf("%v\n%s", err, b.everything())
	}
}

// Places with a name are replayed as visits, without their position. One
// recording that is damaged on disk does not prevent others from being heard.
func TestReplaySkipsADamagedRecording(t *testing.T) {
	speech := &script{id: "speech", kinds: "audio", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "utterance", From: 0, To: sound.Rate}}}, nil
	}}
	b := newBench(t, speech)
	for i := range 2 {
		ev := b.event(memory.KindAudio)
		ev.Codec, ev.Rate, ev.Data, ev.Last = "pcm16", sound.Rate, bytes.Repeat([]byte{byte(i)}, 4*sound.Rate), true
		b.must(ev)
		if i > 0 {
			continue
		}
		err := filepath.WalkDir(filepath.Join(b.dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return os.WriteFile(path, []byte("not what was here"), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	asr := &script{id: "asr", kinds: "utterance", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Derived: []abi.Derived{{Kind: "text", From: 0, To: 100, Text: "I saw a heron."}}}, nil
	}}
	res, err := b.x.Replay(t.Context(), asr, time.Time{}, time.Time{}, b.whole)
	if !errors.Is(err, memory.ErrDamaged) || res.Events != 1 || len(res.Transcribed) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestReplayOfPlaces(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"Office", "Home", ""} {
		ev := b.event(memory.KindLocation)
		ev.Place = &memory.Place{Name: name, Lat: 51.05, Lon: 3.72, Accuracy: 5}
		b.must(ev)
	}
	err := b.store.View(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if got := m.Metadata[memory.MetaPosition]; got != "51.05000,3.72000" {
				t.Errorf("%s has the position %q", m.Text, got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	walks := &script{id: "walks", kinds: "location", answer: func(ev *abi.Event) (abi.Output, error) {
		return remember("Ana was at " + ev.Name), nil
	}}
	if res := again(b, t, walks); res.Events != 2 || len(res.Changes) != 2 {
		t.Fatalf("%+v", res)
	}
	for i, want := range []string{"Office", "Home"} {
		if ev := walks.saw[i]; ev.Kind != "location" || ev.Name != want || len(ev.Values) != 0 || ev.At == 0 {
			t.Errorf("%+v, want %s", ev, want)
		}
	}
	if res := again(b, t, walks); res.Known != 2 || len(res.Changes) != 0 {
		t.Errorf("again: %+v", res)
	}
	err = b.store.View(t.Context(), func(tx *store.Tx) error {
		none, err := b.x.visitsBetween(tx, b.at.AddDate(0, 0, 1), b.at.AddDate(0, 0, 2))
		if len(none) != 0 {
			t.Errorf("out of its time: %+v", none)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// An event that is forgotten while others are replayed is not given to the plugin
// any more, produces nothing, and leaves nothing in the plugin's state.
func TestReplayDuringForgetting(t *testing.T) {
	b := newBench(t)
	said := []memory.Event{b.text("The gate code is tulip."), b.text("A tulip it is."), b.text("It opens at nine.")}
	office := b.event(memory.KindLocation)
	office.Place = &memory.Place{Name: "Office", Lat: 51.05, Lon: 3.72, Accuracy: 5}
	for _, ev := range append(said, office) {
		b.must(ev)
	}
	notes := &script{id: "notes", kinds: "text location", answer: func(ev *abi.Event) (abi.Output, error) {
		out := remember("noted: "+ev.Text+ev.Name, abi.Span{Start: 0, End: len(ev.Text)})
		out.State = append(ev.State, ev.Text...)
		return out, nil
	}}
	forget := func() error {
		var gone store.Targets
		for _, ev := range said[:2] {
			gone.Utterances = append(gone.Utterances, b.x.keys.MemoryID(ev.ID, "", "utterance"))
		}
		_, err := b.x.Forget(t.Context(), b.w, Forgotten{Utterances: gone.Utterances})
		return errors.Join(err, b.store.Update(t.Context(), func(tx *store.Tx) error {
			for m, err := range tx.Memories(store.Filter{}) {
				if err != nil {
					return err
				}
				gone.Memories = append(gone.Memories, m.ID)
			}
			return tx.Erase(gone)
		}))
	}
	calls := 0
	res, err := b.x.Replay(t.Context(), notes, time.Time{}, time.Time{}, func(run func(*engine.Writer) error) error {
		if calls++; calls == 2 {
			if err := forget(); err != nil {
				return err
			}
		}
		return run(b.w)
	})
	if err != nil || res.Events != 2 || calls != 4 || len(notes.saw) != 2 || strings.Contains(b.everything(), "tulip") {
		t.Fatalf("%+v, %v, %d\n%s", res, err, calls, b.everything())
	}
	if last := notes.saw[1]; last.Text != "It opens at nine." || len(last.Before) != 0 || len(last.State) != 0 {
		t.Errorf("given %+v", last)
	}
}
