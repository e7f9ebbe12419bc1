package journal_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/journal"
)

// fataller is a test, or one history of a rapid test.
type fataller interface {
	Fatal(...any)
	Context() context.Context
}

// packs has the packs of a store's cold memories.
type packs map[string][]byte

// freeze makes memories cold, with or without the notes that this version writes.
func (p packs) freeze(t fataller, l *journal.Journal, notes bool, ids ...memory.ID) (frozen int) {
	c := store.Cooling{Covered: 1 << 60, Notes: l.Notes}
	if notes {
		c.OnFrozen = l.OnFrozen
	}
	err := l.Store.Update(t.Context(), func(tx *store.Tx) error {
		made, err := tx.MakePack(ids, c)
		if err != nil || made.Count == 0 {
			return err
		}
		at := sha256.Sum256(made.Body)
		p[string(at[:])] = made.Body
		frozen, err = tx.Freeze(made, at[:], c)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return frozen
}

// thaw brings back the named memories or, if none is named, the requested ones, as package cold
// does.
func (p packs) thaw(t fataller, l *journal.Journal, ids ...memory.ID) {
	wanted := len(ids) == 0
	err := l.Store.Update(t.Context(), func(tx *store.Tx) error {
		for round := 0; ; round++ {
			now := ids
			if wanted {
				stubs, err := tx.Wanted()
				if err != nil {
					return err
				}
				now = nil
				for _, s := range stubs {
					now = append(now, s.ID)
				}
			}
			if err := p.back(tx, l, now); err != nil || !wanted || len(now) == 0 {
				return err
			}
			if round > 100 {
				return fmt.Errorf("%v is wanted and does not come", now)
			}
		}
	})
	if err == nil && wanted {
		err = l.ResumeWaiting(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p packs) back(tx *store.Tx, l *journal.Journal, ids []memory.ID) error {
	for _, id := range ids {
		s, ok, err := tx.Cold(id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		pack, err := tx.Pack(s.Pack)
		if err != nil {
			return err
		}
		back, err := tx.Thaw(s.Pack, p[string(pack.At)], []memory.ID{id})
		if err == nil {
			err = l.OnThawed(tx, back)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// When a line changes, a worker's cold assertion that quotes it is requested,
// with the memory into which it archived. The result is the same as for a hot
// one: nobody sees it before it was checked against the present line.
func TestColdAssertionMustQuoteItsLine(t *testing.T) {
	said := func(text string, redacted int) memory.Utterance {
		return memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: text, Redacted: redacted}
	}
	redacted, back := said("Ana likes […].", 1), said("Ana likes plums, and […].", 2)
	line := memory.Utterance{ID: memory.ID{51}, Event: memory.EventID{Device: "pin", Seq: 2}, Text: "Berries, too."}
	other := cites(2, "Berries")
	other.Assertion.Candidate.Text, other.Assertion.Candidate.Evidence[0].Utterance = "Ana likes berries.", memory.ID{51}
	text := "Ana likes ripe plums."
	comment, away := cites(3, "").Assertion, cites(4, "").Assertion
	comment.Memory, comment.Act, comment.Candidate, comment.Patch = memory.ID{1}, memory.ActCorrect, nil, &memory.Patch{Text: &text}
	away.Memory, away.Act, away.Candidate, away.Into = memory.ID{2}, memory.ActArchive, nil, memory.ID{1}

	for _, ids := range [][]memory.ID{{{1}}, {{2}}, {{1}, {2}}} {
		for _, way := range []string{"wanted", "asked for", "twice cold", "hot again"} {
			t.Run(fmt.Sprint(way, " ", ids), func(t *testing.T) {
				m, l := heard(t)
				h, sh := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}, packs{}
				hear := func(u memory.Utterance) { h.from(l, memory.MemberID{2}, delta.Op{Utterance: &u}) }
				states := func() (out [2]memory.State) {
					for n := range out {
						if r := m.memory(memory.ID{byte(n) + 1}); r != nil {
							out[n] = r.State
						}
					}
					return out
				}
				freeze := func() {
					if n := sh.freeze(t, l, true, ids...); n != len(ids) {
						t.Fatalf("%d turned cold", n)
					}
				}
				hear(line)
				h.gives(l, cites(1, "plums"), other, delta.Op{Assertion: comment}, delta.Op{Assertion: away})
				freeze()
				if way == "twice cold" || way == "hot again" {
					sh.thaw(t, l, ids...)
				}
				if way == "twice cold" {
					freeze()
				}
				hear(redacted)
				switch way {
				case "asked for":
					sh.thaw(t, l, ids[0])
					if r := m.memory(memory.ID{1}); r != nil {
						t.Errorf("asked for, it says %q", r.Text)
					}
					sh.thaw(t, l) // the other requested memories
				default:
					sh.thaw(t, l)
				}
				if s := states(); s != [2]memory.State{"", memory.Active} {
					t.Errorf("redacted: %v", s)
				}
				if err := l.EachLive(t.Context(), func(*delta.Item) error { return nil }); err != nil {
					t.Errorf("it can't be sealed: %v", err)
				}
				hear(back)
				if s := states(); s != [2]memory.State{memory.Active, memory.Archived} {
					t.Errorf("and back: %v", s)
				}
				if got := m.memory(memory.ID{1}); got != nil && got.Text != text {
					t.Errorf("it says %q", got.Text)
				}
			})
		}
	}
}

// proposes returns a device's proposal of a memory of a type.
func proposes(n byte, seq uint64, kind memory.Type) delta.Op {
	a := fact(n, "Ana likes fruit.")
	a.Dot, a.Clock, a.Rank, a.Space, a.Candidate.Type = memory.Dot{Member: memory.MemberID{2}, Seq: seq}, memory.Clock{Wall: int64(seq)}, memory.RankDevice, memory.SpaceID{1}, kind
	return delta.Op{Assertion: &a}
}

// If a worker archived a memory into one whose type its grant no longer allows, the archiving is
// undone, as if it had come later.
func TestArchiveIntoMemoryOfAnotherType(t *testing.T) {
	m, l := heard(t)
	h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}
	line := memory.Utterance{ID: memory.ID{51}, Event: memory.EventID{Device: "pin", Seq: 2}, Text: "Berries, too."}
	other, away := cites(2, "Berries"), cites(4, "").Assertion
	other.Assertion.Candidate.Text, other.Assertion.Candidate.Evidence[0].Utterance = "Ana likes berries.", memory.ID{51}
	away.Memory, away.Act, away.Candidate, away.Into = memory.ID{2}, memory.ActArchive, nil, memory.ID{1}
	h.from(l, memory.MemberID{2}, delta.Op{Utterance: &line}, proposes(1, 1, memory.Episodic))
	h.gives(l, cites(1, "plums"), other, delta.Op{Assertion: away})
	if r := m.memory(memory.ID{2}); r == nil || r.State != memory.Archived {
		t.Fatalf("%+v", r)
	}
	redacted := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes […].", Redacted: 1}
	h.from(l, memory.MemberID{2}, delta.Op{Utterance: &redacted})
	if r := m.memory(memory.ID{2}); r == nil || r.State != memory.Active {
		t.Errorf("put away into what is an episode alone: %+v", r)
	}
}

// Only one type of a cold memory is known here. An op about another type makes
// the memory come back.
func TestColdMemoryOfTwoTypes(t *testing.T) {
	m, l := heard(t)
	h, sh := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}, packs{}
	h.from(l, memory.MemberID{2}, proposes(1, 1, memory.Semantic), proposes(1, 2, memory.Episodic))
	if r := m.memory(memory.ID{1}); r == nil || r.Type != memory.Episodic || sh.freeze(t, l, true, memory.ID{1}) != 1 {
		t.Fatalf("%+v", r)
	}
	again := cites(3, "").Assertion
	again.Memory, again.Act, again.Evidence, again.Candidate = memory.ID{1}, memory.ActReinforce, []memory.Evidence{{Utterance: memory.ID{50}, Excerpt: "plums"}}, nil
	if n := h.gives(l, delta.Op{Assertion: again}); n != 1 {
		t.Fatalf("%d wait", n)
	}
	sh.thaw(t, l)
	if r := m.memory(memory.ID{1}); r == nil || len(r.Evidence) != 1 || len(m.problems()) != 0 {
		t.Errorf("back, and asked again: %+v, %q", r, m.problems())
	}
}

// New words about a cold memory may move it into another group. It must not turn cold
// again before its first part is back, because only the second would be found then.
func TestColdMemoryMovedIntoAnotherGroup(t *testing.T) {
	m, l := heard(t)
	h, sh := &hand{t: t}, packs{}
	h.from(l, memory.MemberID{2}, proposes(1, 2, memory.Semantic))
	if n := sh.freeze(t, l, true, memory.ID{1}); n != 1 {
		t.Fatalf("%d turned cold", n)
	}
	h.from(l, memory.MemberID{2}, proposes(1, 1, memory.Episodic))
	if n := sh.freeze(t, l, true, memory.ID{1}); n != 0 {
		t.Errorf("%d turned cold again", n)
	}
	sh.thaw(t, l)
	err := m.store.View(t.Context(), func(tx *store.Tx) error {
		as, err := tx.Assertions(memory.ID{1})
		if err == nil && len(as) != 2 {
			t.Errorf("%d of 2 words came back", len(as))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
