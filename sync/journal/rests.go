package journal

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// A worker's word that turns cold leaves a note under what it rests on: the
// lines that it quotes, and the memory that it archives into. By these notes it
// is wanted back when one of them changes, and found when it is hot again, as
// the record of its number has gone. Whoever brings it back holds it to what is
// known by then before anybody sees it.

// Froze notes what workers' words that turn cold rest on.
func (l *Ledger) Froze(tx *store.Tx, as []memory.Assertion) error {
	h, err := l.hired(tx)
	if err != nil || len(h) == 0 {
		return err
	}
	for i := range as {
		a := &as[i]
		if _, worker := h[a.Dot.Member.String()]; !worker {
			continue
		}
		for _, id := range restsOn(a) {
			if err := l.rests(id).add(tx, a.Memory); err != nil {
				return err
			}
		}
	}
	return nil
}

// restsOn are the utterances and the memory, beside its own, without which a
// worker's assertion does not stand.
func restsOn(a *memory.Assertion) (ids []memory.ID) {
	es := a.Evidence
	if a.Candidate != nil {
		es = slices.Concat(es, a.Candidate.Evidence)
	}
	for _, e := range es {
		if !e.Utterance.IsZero() {
			ids = append(ids, e.Utterance)
		}
	}
	if !a.Into.IsZero() {
		ids = append(ids, a.Into)
	}
	return ids
}

// rests are the memories of which a worker's word that rests on an utterance or
// a memory was cold at some time.
func (l *Ledger) rests(on memory.ID) pages[memory.ID] {
	return pages[memory.ID]{l, "rests/" + on.String()}
}

// resting gives, of workers' words that were cold at some time and rest on an
// utterance or a memory, those that are here. The others are wanted back.
func (l *Ledger) resting(tx *store.Tx, on memory.ID, h hired) (as []memory.Assertion, err error) {
	ids, err := l.rests(on).all(tx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := tx.Want(id); err != nil {
			return nil, err
		}
		said, err := tx.Assertions(id)
		if err != nil {
			return nil, err
		}
		for _, a := range said {
			if _, worker := h[a.Dot.Member.String()]; worker && slices.Contains(restsOn(&a), on) {
				as = append(as, a)
			}
		}
	}
	return as, nil
}

// Thawed holds what workers have said of memories that came back to what is
// known by now. It runs in the transaction in which they come.
func (l *Ledger) Thawed(tx *store.Tx, ids []memory.ID) error {
	h, err := l.hired(tx)
	if err != nil || len(h) == 0 {
		return err
	}
	for _, id := range ids {
		as, err := tx.Assertions(id)
		if err != nil {
			return err
		}
		if err := l.Froze(tx, as); err != nil { // what an earlier build froze has no notes
			return err
		}
		// What is shown last: so the history does not grow by each.
		slices.SortFunc(as, func(a, b memory.Assertion) int {
			if a.Before(&b) {
				return -1
			}
			return 1
		})
		for i := range as {
			if _, worker := h[as[i].Dot.Member.String()]; worker {
				if err := l.holdAgain(tx, &as[i], h); err != nil {
					return err
				}
			}
		}
	}
	waiters, err := l.waiters(tx)
	if err != nil || len(waiters) == 0 {
		return err
	}
	return tx.PutMeta(l.note("thawed"), true)
}

// askThawed asks those that wait, where something of which they may be came back.
func (l *Ledger) askThawed(ctx context.Context) error {
	thawed := false
	err := l.view(ctx, func(tx *store.Tx) error { _, err := tx.Meta(l.note("thawed"), &thawed); return err })
	if err == nil && thawed {
		err = l.again(ctx)
	}
	if err != nil || !thawed {
		return err
	}
	return l.Store.Update(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(l.note("thawed")) })
}
