package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// A memory with too many assertions for one transaction can be erased completely, even if the
// erasure was interrupted.
func TestEraseOfMuch(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(fact(1, me, 1, "What is said often."), fact(2, me, 2, "It rains."))
		return err
	})
	for seq := uint64(3); seq < 840; {
		var as []memory.Assertion
		for range 90 {
			a := act(1, me, seq, memory.ActReinforce)
			a.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: seq}}}
			as, seq = append(as, a), seq+1
		}
		update(t, s, func(tx *Tx) error { _, err := tx.Assert(as...); return err })
	}
	ids := []memory.ID{testID(2), testID(1)}
	erase := func(tx *Tx, ids []memory.ID) error { return tx.Erase(Targets{Memories: ids}) }
	stop, left := errors.New("power cut"), 5
	by := func(fn func(*Tx) error) error {
		if left--; left == 0 {
			return stop
		}
		return s.Update(t.Context(), fn)
	}
	if err := by(func(tx *Tx) error { return erase(tx, ids[1:]) }); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("it fits, so that nothing is tried: %v", err)
	}
	if err := InBatches(ids, by, erase); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		if m, err := tx.Memory(testID(1)); err != nil || m.State != memory.Active {
			t.Errorf("between: %+v, %v", m, err)
		}
		return nil
	})
	if err := InBatches(ids, by, erase); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		for _, id := range ids {
			if m, err := tx.Memory(id); err != nil || m.State != memory.Erased {
				t.Errorf("%+v, %v", m, err)
			}
			if as, err := tx.Assertions(id); err != nil || len(as) > 0 {
				t.Errorf("%d assertions, %v", len(as), err)
			}
			if h, err := tx.ChangesNaming(id); err != nil || len(h) > 0 {
				t.Errorf("%d changes, %v", len(h), err)
			}
		}
		for _, o := range collect(t, tx.Outbox(0)) {
			if o.Forget == nil {
				t.Errorf("%+v is to be sent", o)
			}
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		if n, err := tx.EraseSome(testID(1), 10); n != 0 || err != nil {
			t.Errorf("%d went of what is erased, %v", n, err)
		}
		return nil
	})
}

// A proposal for which more assertions waited than one transaction can record is taken, and the
// newest of them get changes of their own.
func TestProposalAfterMuch(t *testing.T) {
	s := open(t, t.TempDir())
	const waited = 600
	for seq := uint64(2); seq < 2+waited; {
		var as []memory.Assertion
		for range 100 {
			a := act(1, you, seq, memory.ActReinforce)
			a.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: seq}}}
			as, seq = append(as, a), seq+1
		}
		update(t, s, func(tx *Tx) error { _, err := tx.AssertRemote(as...); return err })
	}
	first := fact(1, me, 1, "What is said often"+strings.Repeat(" and often", 250)+".")
	first.Candidate.Evidence[0].Excerpt = ""
	var told []memory.Change
	update(t, s, func(tx *Tx) (err error) {
		told, err = tx.AssertRemote(first)
		return err
	})
	if len(told) < toldAlone || len(told) > toldAlone+2 || told[0].Verdict != memory.Add {
		t.Errorf("%d lines, the first %+v", len(told), told[0])
	}
	view(t, s, func(tx *Tx) error {
		m, err := tx.Memory(testID(1))
		if err != nil || m.State != memory.Active || m.Heard != waited+1 {
			t.Errorf("%+v, %v", m, err)
		}
		return nil
	})
}
