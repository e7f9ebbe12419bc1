package journal

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// A worker's assertion depends on the lines that it quotes and on the memory
// into which it archives. When the assertion turns cold, a note is stored for
// each of them. When one of them changes, the note makes the assertion come
// back from its pack. The note is also used after that, because the record of
// the assertion's number is gone. An assertion that comes back is checked
// against the present knowledge before anybody sees it.

// OnFrozen stores these notes for workers' assertions that turn cold.
func (j *Journal) OnFrozen(tx *store.Tx, as []memory.Assertion) error {
	h, err := j.workerGrants(tx)
	if err != nil || len(h) == 0 {
		return err
	}
	for i := range as {
		a := &as[i]
		if _, worker := h[a.Dot.Member.String()]; !worker {
			continue
		}
		for _, id := range dependencies(a) {
			if err := j.dependentMemories(id).add(tx, a.Memory); err != nil {
				return err
			}
		}
	}
	return nil
}

// dependencies returns the utterances on which a worker's assertion depends, and the
// memory, other than its own, on which it depends.
func dependencies(a *memory.Assertion) (ids []memory.ID) {
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

// dependentMemories lists the memories that have a worker's assertion which was cold at
// some time and depends on the given utterance or memory.
func (j *Journal) dependentMemories(on memory.ID) pages[memory.ID] {
	return pages[memory.ID]{j, "rests/" + on.String()}
}

// dependentAssertions returns the workers' assertions on this device that were cold at some
// time and depend on an utterance or a memory. It asks for those that are still
// cold.
func (j *Journal) dependentAssertions(tx *store.Tx, on memory.ID, h workers) (as []memory.Assertion, err error) {
	ids, err := j.dependentMemories(on).all(tx)
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
			if _, worker := h[a.Dot.Member.String()]; worker && slices.Contains(dependencies(&a), on) {
				as = append(as, a)
			}
		}
	}
	return as, nil
}

// OnThawed checks what workers said about memories that came back. It runs in the
// transaction in which they come back.
func (j *Journal) OnThawed(tx *store.Tx, ids []memory.ID) error {
	h, err := j.workerGrants(tx)
	if err != nil || len(h) == 0 {
		return err
	}
	for _, id := range ids {
		as, err := tx.Assertions(id)
		if err != nil {
			return err
		}
		// What is shown goes last, so that the history does not grow with each.
		sorting.Sort(as, func(a, b memory.Assertion) int {
			if a.Before(&b) {
				return -1
			}
			return 1
		})
		for i := range as {
			if _, worker := h[as[i].Dot.Member.String()]; worker {
				if err := j.recheck(tx, &as[i], h); err != nil {
					return err
				}
			}
		}
	}
	waiters, err := j.parkedMembers(tx)
	if err != nil || len(waiters) == 0 {
		return err
	}
	return tx.PutMeta(j.note("thawed"), true)
}

// retryThawed tries the waiting ops that may be about a memory that came back.
func (j *Journal) retryThawed(ctx context.Context) error {
	thawed := false
	err := j.Store.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(j.note("thawed"), &thawed); return err })
	if err == nil && thawed {
		err = j.retryWaiting(ctx)
	}
	if err != nil || !thawed {
		return err
	}
	return j.Store.Update(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(j.note("thawed")) })
}
