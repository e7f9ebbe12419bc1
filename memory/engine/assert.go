package engine

import (
	"context"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// Space returns the member's space.
func (e *Engine) Space() memory.SpaceID { return e.c.Space }

// Member returns the member's id.
func (e *Engine) Member() memory.MemberID { return e.c.Member }

// Clock returns the member's clock.
func (e *Engine) Clock() *memory.Ticker { return e.c.Clock }

// AssertTx makes assertions in the member's name, with its next dots, its clock and the given rank. The
// caller sets memory, act and content of each assertion and, where needed, source and reason. If
// Seen is nil, AssertTx sets it to what the member knows now.
func (e *Engine) AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) (changes []memory.Change, err error) {
	for _, a := range as {
		if a.Dot, err = tx.NextDot(e.c.Member); err != nil {
			return nil, err
		}
		a.Clock, a.Rank, a.Space = e.c.Clock.Tick(), rank, e.c.Space
		if a.Seen == nil {
			if a.Seen, err = e.knownDots(tx, &a); err != nil {
				return nil, err
			}
		}
		got, err := tx.Assert(a)
		if err != nil {
			return nil, err
		}
		changes = append(changes, got...)
	}
	return changes, nil
}

// knownDots returns what an assertion's author knows: for a proposal, the values of
// the same slot that it answers; for other acts, the assertions that it
// overrules. A worker overrules nobody.
func (e *Engine) knownDots(tx *store.Tx, a *memory.Assertion) ([]memory.Dot, error) {
	switch {
	case e.c.Worker:
		return nil, nil
	case a.Act == memory.ActPropose:
		group, err := tx.GroupAssertions(a.Candidate.Group())
		return reconcile.SeenDots(group, a), err
	case a.Rank == memory.RankCloud:
		return nil, nil
	}
	known, err := tx.Assertions(a.Memory)
	return reconcile.Overrules(known, a), err
}

// Person is the source of what a person says through the node's API.
var Person = memory.Source{Plugin: "person"}

// Authority says who makes an assertion, and with which rank.
type Authority struct {
	Source memory.Source
	Rank   memory.Rank
}

// PersonAuthority is the wearer's authority.
var PersonAuthority = Authority{Person, memory.RankPerson}

// Assert commits assertions. make returns them with memory, act and content
// set; Assert sets the rest.
func (e *Engine) Assert(ctx context.Context, by Authority, make func(*store.Tx) ([]memory.Assertion, error)) (changes []memory.Change, err error) {
	err = e.Commit(ctx, func(tx *store.Tx) error {
		as, err := make(tx)
		if err != nil {
			return err
		}
		for i := range as {
			if as[i].Source == (memory.Source{}) {
				as[i].Source = by.Source
			}
		}
		changes, err = e.AssertTx(tx, by.Rank, as...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// Erase asserts in the wearer's name that memories are erased, and erases them.
// Only the fact and the reason are kept.
func (e *Engine) Erase(tx *store.Tx, by memory.Source, why string, ids ...memory.ID) (changes []memory.Change, err error) {
	for _, id := range ids {
		got, err := e.AssertTx(tx, memory.RankPerson, memory.Assertion{Memory: id, Act: memory.ActErase, Source: by})
		if err != nil {
			return nil, err
		}
		changes = append(changes, got...)
	}
	if err := tx.Erase(store.Targets{Memories: ids}); err != nil {
		return nil, err
	}
	for _, id := range ids {
		err := tx.Note(memory.Change{Memory: id, Verdict: memory.Delete, At: e.c.Clock.Tick().Time().UTC(), By: by, Rank: memory.RankPerson, Reason: why})
		if err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// Erase is [Engine.Erase] in as many transactions as needed. It may use the
// disk's reserve. After an error, some of the memories may be erased.
func (w *Writer) Erase(ctx context.Context, by memory.Source, why string, ids ...memory.ID) (changes []memory.Change, err error) {
	var said []memory.Change // in the present transaction
	err = store.InBatches(ids, func(fn func(*store.Tx) error) error {
		said = nil
		err := w.CommitInReserve(ctx, fn)
		if err == nil {
			changes = append(changes, said...)
		}
		return err
	}, func(tx *store.Tx, ids []memory.ID) (err error) {
		said, err = w.e.Erase(tx, by, why, ids...)
		return err
	})
	return changes, err
}

// AssertAs proposes a candidate under an id, with the rank, pin and state that a
// memory has.
func (e *Engine) AssertAs(tx *store.Tx, id memory.ID, c *memory.Candidate, m *memory.Memory) error {
	rank := m.Rank
	if rank == memory.RankCloud {
		rank = memory.RankDevice
	}
	_, err := e.AssertTx(tx, rank, memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: c, Source: c.Source})
	if err == nil && m.Pinned {
		_, err = e.AssertTx(tx, memory.RankPerson, memory.Assertion{Memory: id, Act: memory.ActPin, Source: Person})
	}
	if err == nil && m.State == memory.Archived {
		_, err = e.AssertTx(tx, memory.RankPerson, memory.Assertion{Memory: id, Act: memory.ActArchive, Source: Person})
	}
	return err
}
