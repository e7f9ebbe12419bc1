package journal

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// forgetPage is how many things one step forgets: of each, all that is here of it
// is written over.
const forgetPage = 64

// forgetSteps forgets what others have erased. unless, where not nil, says by then
// that nothing is to be.
func (l *Ledger) forgetSteps(t store.Targets, unless *bool) (steps []step) {
	for _, part := range divide(t, forgetPage) {
		steps = append(steps, l.forgetStep(part, unless))
	}
	return steps
}

// forgetStep is one of these: all at once, and where that is too much one thing after
// another, of a memory a part first.
func (l *Ledger) forgetStep(t store.Targets, unless *bool) step {
	ones := divide(t, 1)
	return func(tx *store.Tx, page int) (more bool, err error) {
		switch {
		case unless != nil && *unless:
			return false, nil
		case page > 1 || len(ones) == 0:
			return false, l.forget(tx, t)
		}
		for _, id := range ones[0].Memories {
			if some, err := l.forgetSome(tx, id); err != nil || some {
				return some, err
			}
		}
		if err := l.forget(tx, ones[0]); err != nil {
			return false, err
		}
		ones = ones[1:]
		return len(ones) > 0, nil
	}
}

func targetsOf(f *delta.Forget) store.Targets {
	return store.Targets{Memories: f.Memories, Utterances: f.Utterances, Events: f.Events}
}

// divide gives targets in parts of at most n, and of one kind each.
func divide(t store.Targets, n int) (parts []store.Targets) {
	for ids := range slices.Chunk(t.Memories, n) {
		parts = append(parts, store.Targets{Memories: ids})
	}
	for ids := range slices.Chunk(t.Utterances, n) {
		parts = append(parts, store.Targets{Utterances: ids})
	}
	for ids := range slices.Chunk(t.Events, n) {
		parts = append(parts, store.Targets{Events: ids})
	}
	return parts
}

// forgetSome takes away a part of a memory that is erased next, and of the notes of
// its blobs; any: there was something.
func (l *Ledger) forgetSome(tx *store.Tx, id memory.ID) (any bool, err error) {
	n, err := tx.EraseSome(id, store.SomePage)
	if err != nil || n > 0 {
		return n > 0, err
	}
	return l.dropSomeBlobs(tx, id)
}

// forget takes what was erased, in one transaction.
func (l *Ledger) forget(tx *store.Tx, t store.Targets) error {
	if len(t.Memories)+len(t.Utterances)+len(t.Events) == 0 {
		return nil
	}
	if err := tx.EraseRemote(t); err != nil {
		return err
	}
	if l.Forgot != nil {
		l.Forgot(t)
	}
	return l.went(tx, t)
}

// went takes what was erased out of the notes, and has the deltas emptied that
// carry some of it.
func (l *Ledger) went(tx *store.Tx, t store.Targets) error {
	if err := l.dropBlobs(tx, t.Memories); err != nil {
		return err
	}
	all := slices.Concat(t.Memories, t.Utterances)
	if err := l.dropOthers(tx, all); err != nil {
		return err
	}
	return l.recall(tx, all)
}

// wentStep is went where it may take several transactions.
func (l *Ledger) wentStep(t store.Targets) step {
	return func(tx *store.Tx, page int) (more bool, err error) {
		if page > 1 {
			return false, l.went(tx, t)
		}
		for _, id := range t.Memories {
			if some, err := l.dropSomeBlobs(tx, id); err != nil || some {
				return some, err
			}
		}
		return false, l.went(tx, t)
	}
}
