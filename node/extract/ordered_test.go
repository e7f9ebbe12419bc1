package extract

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// In a recording, neither the order to stop nor what follows it is kept. A recording that
// contains nothing else is erased.
func TestOrderInARecording(t *testing.T) {
	began := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	b := newBench(t)
	var off time.Time
	b.x.cfg.CarryOutOrder = func(ev *memory.Event) bool {
		if ev.Text != "Locket, stop listening" {
			return false
		}
		off = ev.At
		return true
	}
	b.x.cfg.IsOffRecord = func(at time.Time) bool { return !off.IsZero() && !at.Before(off) && at.Before(began.Add(time.Hour)) }
	hear := func(id byte, began time.Time, said ...Spoken) (state memory.State) {
		t.Helper()
		c := memory.Candidate{Type: memory.Resource, Text: "Recording", Owner: memory.Owner{User: "wearer"}, Confidence: 1, Source: memory.Source{Device: "pin", Plugin: "speech", Version: "1"},
			Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(id)}, At: began}}, TrueFrom: began, TrueTo: began.Add(time.Minute)}
		c.Fields.Resource = &memory.ResourceFields{Title: "Recording", MediaType: "audio/wav"}
		m := &memory.Memory{ID: memory.ID{id}, Candidate: c}
		say := func(tx *store.Tx) error {
			_, err := b.x.engine.AssertTx(tx, memory.RankDevice, memory.Assertion{Memory: m.ID, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
			return err
		}
		if err := b.w.Commit(t.Context(), say); err != nil {
			t.Fatal(err)
		}
		if _, err := b.x.KeepWords(t.Context(), b.w, m, memory.Source{Plugin: "engine/transcribe", Model: "ears"}, said, func(*store.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		err := b.x.engine.View(t.Context(), func(tx *store.Tx) error {
			m, err := tx.Memory(m.ID)
			if err == nil {
				state = m.State
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	order := Spoken{From: 10 * time.Second, Text: "Locket, stop listening"}
	if s := hear(1, began, Spoken{Text: "the crane is grey"}, order, Spoken{From: 20 * time.Second, Text: "the code of the door"}); s != memory.Active {
		t.Errorf("the recording with another line is %s", s)
	}
	if s := hear(2, began.Add(30*time.Second), Spoken{Text: "heard while it was understood"}); s != memory.Erased {
		t.Errorf("the recording from off the record is %s", s)
	}
	if s := hear(3, began.Add(-time.Minute), order); s != memory.Erased {
		t.Errorf("the recording of an order alone is %s", s)
	}
	all := b.everything()
	if !strings.Contains(all, "crane") || strings.Contains(all, "Locket, stop") || strings.Contains(all, "code of") || strings.Contains(all, "heard while") {
		t.Errorf("%s", all)
	}
}
