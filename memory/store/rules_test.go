package store

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

// nuts proposes that somebody is, or is not, allergic to nuts.
func nuts(n int, attribute string) memory.Assertion {
	a := home(n, me, uint64(n), "")
	a.Candidate.Text = attribute + " nuts"
	a.Candidate.Slot = &memory.Slot{Subject: "user", Attribute: attribute, Value: "nuts", Many: true}
	return a
}

// underRules0 makes a store as the version before rules had it: each memory is in a group of its
// own attribute, and a person's withdrawals have no effect.
func underRules0(t *testing.T) *Store {
	s := open(t, t.TempDir())
	said := []memory.Assertion{nuts(1, "allergies"), nuts(2, "not_allergies"), home(3, me, 3, "Leeds"), fact(6, me, 6, "It is as it was.")}
	settled := act(3, me, 4, memory.ActArchive)
	settled.Source.Version = "a conflict"
	withdrawn := act(3, me, 5, memory.ActWithdraw)
	withdrawn.Seen = []memory.Dot{settled.Dot}
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(append(said, settled, withdrawn)...)
		return err
	})
	update(t, s, func(tx *Tx) error {
		denial := said[1].Candidate.Group()
		if err := tx.del(append(tx.groupPrefix(denial), said[1].Memory[:]...)); err != nil {
			return err
		}
		was := tx.store.opt.Derive(said[1:2])[0]
		was.Group = "as it was called"
		if err := tx.put(append(tx.groupPrefix(was.Group), was.ID[:]...), nil); err != nil {
			return err
		}
		for _, m := range []memory.Memory{tx.store.opt.Derive(said[:1])[0], was, tx.store.opt.Derive([]memory.Assertion{said[2], settled})[0]} {
			if m.ID != was.ID {
				m.Group = m.Candidate.Group()
			}
			if err := tx.putMemory(&m); err != nil {
				return err
			}
		}
		tx.state.head.Rules = 0
		return nil
	})
	return s
}

// TestFollowRulesOfScript: what was said in traditional characters comes into the group of what was
// said in simplified ones.
func TestFollowRulesOfScript(t *testing.T) {
	s := open(t, t.TempDir())
	a, b := nuts(1, "allergies"), nuts(2, "allergies")
	a.Candidate.Slot.Value, b.Candidate.Slot.Value = "花生酱", "花生醬"
	a.Candidate.Text, b.Candidate.Text = "我对花生酱过敏", "我對花生醬過敏"
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(a, b)
		return err
	})
	update(t, s, func(tx *Tx) error { // as rules 1 had them
		if err := tx.del(append(tx.groupPrefix(b.Candidate.Group()), b.Memory[:]...)); err != nil {
			return err
		}
		for _, x := range []*memory.Assertion{&a, &b} {
			was := tx.store.opt.Derive([]memory.Assertion{*x})[0]
			if x == &b {
				was.Group = "as it was called"
				if err := tx.put(append(tx.groupPrefix(was.Group), was.ID[:]...), nil); err != nil {
					return err
				}
			}
			if err := tx.putMemory(&was); err != nil {
				return err
			}
		}
		tx.state.head.Rules = 1
		return nil
	})
	if of := states(t, s); of[a.Memory] != memory.Active || of[b.Memory] != memory.Active {
		t.Fatalf("before: %v", of)
	}
	s = reopen(t, s)
	if of := states(t, s); (of[a.Memory] == memory.Active) == (of[b.Memory] == memory.Active) {
		t.Errorf("after: %v", of)
	}
	sound(t, s)
}

func states(t *testing.T, s *Store) (of map[memory.ID]memory.State) {
	of = map[memory.ID]memory.State{}
	view(t, s, func(tx *Tx) error {
		for _, m := range collect(t, tx.Memories(Filter{})) {
			of[m.ID] = m.State
		}
		return nil
	})
	return of
}

// TestFollowRules: groups and memories that were stored under earlier rules are made again, once.
func TestFollowRules(t *testing.T) {
	s := underRules0(t)
	if of := states(t, s); of[testID(1)] != memory.Active || of[testID(2)] != memory.Active || of[testID(3)] != memory.Archived {
		t.Fatalf("before: %v", of)
	}
	s = reopen(t, s)
	if of := states(t, s); of[testID(1)] != memory.Superseded || of[testID(2)] != memory.Active || of[testID(3)] != memory.Active || of[testID(6)] != memory.Active {
		t.Errorf("after: %v", of)
	}
	sound(t, s)
	made := s.state.head.Generation
	s = reopen(t, s)
	if s.state.head.Rules != rules || s.state.head.Generation != made {
		t.Errorf("rules %d, generation %d after %d", s.state.head.Rules, s.state.head.Generation, made)
	}
	update(t, s, func(tx *Tx) error { // an erased denial no longer ends anything
		return tx.Erase(Targets{Memories: []memory.ID{testID(2)}})
	})
	if of := states(t, s); of[testID(1)] != memory.Active {
		t.Errorf("after the denial was erased: %v", of)
	}
	sound(t, s)
}

// TestFollowRulesAfterCrash: the next Open completes what was begun.
func TestFollowRulesAfterCrash(t *testing.T) {
	s := underRules0(t)
	derive, left := s.opt.Derive, 1
	s.opt.Derive = func(as []memory.Assertion) []memory.Memory {
		if left--; left < 0 {
			panic("power cut")
		}
		return derive(as)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Fatal("the derivation was not interrupted: there was only one group")
			}
		}()
		_ = s.followRules()
	}()
	if s.state.head.Rules != 0 {
		t.Error("the head says that it is done")
	}
	s = reopen(t, s)
	if of := states(t, s); of[testID(1)] != memory.Superseded || of[testID(2)] != memory.Active || of[testID(3)] != memory.Active {
		t.Errorf("after: %v", of)
	}
	sound(t, s)
}
