package journal

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// forgetPage is how many records one step forgets. When a record is forgotten, all of its bytes on
// this disk are overwritten.
const forgetPage = 64

// forgetSteps returns the steps that forget what another member erased. A step
// does nothing if unless is not nil and is true when the step runs.
func (j *Journal) forgetSteps(t store.Targets, unless *bool) (steps []step) {
	for _, part := range divide(t, forgetPage) {
		steps = append(steps, j.forgetStep(part, unless))
	}
	return steps
}

// forgetStep is one of these steps. It first tries to forget all targets in one
// transaction. If they are too many, it forgets one after another, and a large
// memory in parts.
func (j *Journal) forgetStep(t store.Targets, unless *bool) step {
	ones := divide(t, 1)
	return func(tx *store.Tx, page int) (more bool, err error) {
		switch {
		case unless != nil && *unless:
			return false, nil
		case page > 1 || len(ones) == 0:
			return false, j.forget(tx, t)
		}
		for _, id := range ones[0].Memories {
			if some, err := j.forgetSome(tx, id); err != nil || some {
				return some, err
			}
		}
		if err := j.forget(tx, ones[0]); err != nil {
			return false, err
		}
		ones = ones[1:]
		return len(ones) > 0, nil
	}
}

func targetsOf(f *delta.Forget) store.Targets {
	return store.Targets{Memories: f.Memories, Utterances: f.Utterances, Events: f.Events}
}

// divide splits targets into parts of at most n, each of one kind.
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

// forgetSome removes a part of a memory that is about to be erased, and some
// notes of its blobs. any reports whether it removed anything.
func (j *Journal) forgetSome(tx *store.Tx, id memory.ID) (any bool, err error) {
	n, err := tx.EraseSome(id, store.SomePage)
	if err != nil || n > 0 {
		return n > 0, err
	}
	return j.dropSomeBlobs(tx, id)
}

// forget removes what was erased, in one transaction.
func (j *Journal) forget(tx *store.Tx, t store.Targets) error {
	if len(t.Memories)+len(t.Utterances)+len(t.Events) == 0 {
		return nil
	}
	if err := tx.EraseRemote(t); err != nil {
		return err
	}
	if j.OnErased != nil {
		j.OnErased(t)
	}
	return j.forgetErased(tx, t)
}

// forgetErased removes the notes of what was erased, and marks the deltas that contain
// it, so that their bodies are removed.
func (j *Journal) forgetErased(tx *store.Tx, t store.Targets) error {
	if err := j.dropBlobs(tx, t.Memories); err != nil {
		return err
	}
	all := slices.Concat(t.Memories, t.Utterances)
	if err := j.markOtherDeltas(tx, all); err != nil {
		return err
	}
	return j.markOwnDeltas(tx, all)
}

// forgetErasedStep is forgetErased, split into as many transactions as needed.
func (j *Journal) forgetErasedStep(t store.Targets) step {
	return func(tx *store.Tx, page int) (more bool, err error) {
		if page > 1 {
			return false, j.forgetErased(tx, t)
		}
		for _, id := range t.Memories {
			if some, err := j.dropSomeBlobs(tx, id); err != nil || some {
				return some, err
			}
		}
		return false, j.forgetErased(tx, t)
	}
}
