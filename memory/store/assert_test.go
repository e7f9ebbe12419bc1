package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func TestAssertDerivesAMemory(t *testing.T) {
	s := open(t, t.TempDir())
	var changes []memory.Change
	update(t, s, func(tx *Tx) error {
		dot, err := tx.NextDot(me)
		if err != nil {
			return err
		}
		a := home(1, me, dot.Seq, "Ghent")
		changes, err = tx.Assert(a)
		if len(tx.ChangedDocuments()) != 1 || tx.ChangedDocuments()[0].ID != a.Memory {
			t.Errorf("touched: %v", tx.ChangedDocuments())
		}
		return err
	})
	if len(changes) != 1 || changes[0].Verdict != memory.Add || changes[0].Seq != 1 {
		t.Fatalf("first home: %+v", changes)
	}
	update(t, s, func(tx *Tx) (err error) {
		dot, err := tx.NextDot(me)
		if err != nil {
			return err
		}
		if dot.Seq>>countBits == 0 {
			t.Errorf("next dot, of no life: %d", dot.Seq)
		}
		changes, err = tx.Assert(home(60, me, dot.Seq, "Antwerp"))
		return err
	})
	if len(changes) == 0 || !slices.ContainsFunc(changes, func(c memory.Change) bool { return c.Verdict == memory.Update }) {
		t.Fatalf("second home: %+v", changes)
	}
	s = reopen(t, s)
	view(t, s, func(tx *Tx) error {
		old, err := tx.Memory(testID(1))
		if err != nil {
			return err
		}
		if old.State != memory.Superseded || old.Into != testID(60) || old.TrueTo.IsZero() {
			t.Errorf("old home: %+v", old)
		}
		now, err := tx.Memory(testID(60))
		if err != nil {
			return err
		}
		if now.State != memory.Active || now.Slot.Value != "Antwerp" || !now.Evidence[0].At.Equal(noon.Add(time.Hour)) {
			t.Errorf("new home: %+v", now)
		}
		both, err := tx.Group(now.Group)
		if err != nil || len(both) != 2 {
			t.Errorf("group: %d memories, %v", len(both), err)
		}
		h, err := tx.History(testID(1))
		if err != nil || len(h) < 2 {
			t.Errorf("history of the old home: %+v, %v", h, err)
		}
		if all := collect(t, tx.Changes(1)); len(all) == 0 || all[0].Seq != 2 {
			t.Errorf("changes after 1: %+v", all)
		}
		if out := collect(t, tx.Outbox(0)); len(out) != 2 || out[1].Assertion.Candidate.Slot.Value != "Antwerp" {
			t.Errorf("outbox: %+v", out)
		}
		if as, err := tx.Assertions(testID(1)); err != nil || len(as) != 1 {
			t.Errorf("assertions: %v, %v", as, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.sentUpTo(1) })
	view(t, s, func(tx *Tx) error {
		if out := collect(t, tx.Outbox(0)); len(out) != 1 || out[0].Seq != 2 {
			t.Errorf("outbox after sending one: %+v", out)
		}
		return nil
	})
	sound(t, s)
}

func TestAssertIsIdempotent(t *testing.T) {
	s := open(t, t.TempDir())
	a := home(1, me, 1, "Ghent")
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(a); return err })
	before := s.state.head
	update(t, s, func(tx *Tx) error {
		changes, err := tx.Assert(a, a)
		if len(changes) != 0 {
			t.Errorf("a known dot changed %+v", changes)
		}
		return err
	})
	if s.state.head.Generation != before.Generation {
		t.Error("a known dot was written again")
	}
	for name, other := range map[string]memory.Assertion{
		"another memory": home(2, me, 1, "Ghent"), "another text": home(1, me, 1, "Bruges"),
	} {
		err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.Assert(other); return err })
		if !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("dot given to %s: %v", name, err)
		}
	}
	bad := home(3, me, 3, "Ghent")
	bad.Candidate.Confidence = 2
	err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.Assert(home(4, me, 4, "Ypres"), bad); return err })
	if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "assertion 1") {
		t.Errorf("invalid assertion: %v", err)
	}
	view(t, s, func(tx *Tx) error {
		if _, err := tx.Memory(testID(4)); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("of a failed transaction: %v", err)
		}
		return nil
	})
}

func TestAssertionWaitsForItsProposal(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		changes, err := tx.AssertRemote(act(1, you, 9, memory.ActPin))
		if len(changes) != 0 {
			t.Errorf("changes: %+v", changes)
		}
		return err
	})
	view(t, s, func(tx *Tx) error {
		if _, err := tx.Memory(testID(1)); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("before the proposal: %v", err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(home(1, me, 1, "Ghent")); return err })
	view(t, s, func(tx *Tx) error {
		m, err := tx.Memory(testID(1))
		if err == nil && !m.Pinned {
			t.Error("the waiting pin was lost")
		}
		if n := len(collect(t, tx.Outbox(0))); n != 1 {
			t.Errorf("outbox has %d, a remote one is not for it", n)
		}
		return err
	})
	sound(t, s)
}

// TestHistoryOfAnEarlyCorrection: a correction that came before its proposal has the same history as one
// that came after it.
func TestHistoryOfAnEarlyCorrection(t *testing.T) {
	proposal, fix := home(1, me, 1, "Ghent"), act(1, me, 2, memory.ActCorrect)
	text := "Ana lives in Gent."
	fix.Patch = &memory.Patch{Text: &text}
	var told [2]string
	for i, order := range [][]memory.Assertion{{proposal, fix}, {fix, proposal}} {
		s := open(t, t.TempDir())
		for _, a := range order {
			update(t, s, func(tx *Tx) error {
				changes, err := tx.AssertRemote(a)
				for _, c := range changes {
					told[i] += fmt.Sprintf("%s %q %q %s\n", c.Verdict, c.Old, c.New, c.By.Plugin)
				}
				return err
			})
		}
		sound(t, s)
	}
	if told[0] != told[1] || strings.Count(told[0], "\n") != 2 {
		t.Errorf("in order:\n%sout of order:\n%s", told[0], told[1])
	}
}

// TestLowerDotDecidesTheGroup: two proposals of one id disagree about the group; the one with the
// smaller dot decides, whichever came first.
func TestLowerDotDecidesTheGroup(t *testing.T) {
	first, second := home(1, me, 1, "Ghent"), fact(1, you, 1, "It rains.")
	for name, order := range map[string][]memory.Assertion{"in order": {first, second}, "out of order": {second, first}} {
		s := open(t, t.TempDir())
		for _, a := range order {
			update(t, s, func(tx *Tx) error { _, err := tx.AssertRemote(a); return err })
		}
		view(t, s, func(tx *Tx) error {
			m, err := tx.Memory(testID(1))
			if err == nil && m.Group != first.Candidate.Group() {
				t.Errorf("%s: group %q", name, m.Group)
			}
			if g, err := tx.Group(second.Candidate.Group()); err != nil || len(g) != 0 {
				t.Errorf("%s: the other group has %d, %v", name, len(g), err)
			}
			return err
		})
		sound(t, s)
	}
}

// A worker that proposes a device's memory again, with a lower dot and for another slot, does not
// move it to another group, whichever comes first.
func TestWorkerCannotMoveAGroup(t *testing.T) {
	devices, workers := home(1, memory.MemberID{9}, 1, "Ghent"), home(2, memory.MemberID{1}, 1, "Ghent")
	workers.Memory, workers.Rank = devices.Memory, memory.RankCloud
	slot := *workers.Candidate.Slot
	slot.Attribute = "birthplace"
	workers.Candidate.Slot = &slot
	for _, order := range [][]memory.Assertion{{devices, workers}, {workers, devices}} {
		s := open(t, t.TempDir())
		update(t, s, func(tx *Tx) error {
			for _, a := range order {
				if _, err := tx.AssertRemote(a); err != nil {
					return err
				}
			}
			return nil
		})
		view(t, s, func(tx *Tx) error {
			ms, err := tx.Group(devices.Candidate.Group())
			if err != nil || len(ms) != 1 || ms[0].Group != devices.Candidate.Group() {
				t.Errorf("of its group are %+v, %v", ms, err)
			}
			return nil
		})
		sound(t, s)
	}
}
