package forget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/extract"
)

// execute erases what the plan orders: from the records, from memory, from the
// index and its segments, and from old versions of files. Memories with other
// evidence are first asserted again on that evidence, before their sources are
// erased, so that a plan that is started again finds the same.
func (fg *Forgetting) execute(ctx context.Context, todo Plan) (w Removed, err error) {
	lock := fg.c.Engine.AcquireWriter()
	defer lock.Release()
	fg.executed++
	if err := lock.CommitInReserve(ctx, dream.DropPlan); err != nil {
		return w, err
	}
	if w.Chosen, err = fg.choiceOf(ctx, &todo); err != nil {
		return w, err
	}
	for i := range w.Trimmed {
		if err := fg.trim(ctx, lock, &w.Trimmed[i]); err != nil {
			return w, err
		}
	}
	var memories, utterances []memory.ID
	for i := range w.Memories {
		memories = append(memories, w.Memories[i].ID)
	}
	for i := range w.Utterances {
		utterances = append(utterances, w.Utterances[i].ID)
	}
	w.Held, err = fg.c.Chain.Forget(ctx, lock, extract.Forgotten{Utterances: utterances, Events: w.Events, Places: w.Places, Latest: w.Latest})
	if err = errors.Join(err, fg.c.ForgetPlugins()); err != nil {
		return w, err
	}
	for ids := range slices.Chunk(memories, forgetPage) {
		if _, err := lock.Erase(ctx, engine.Person, cmp.Or(todo.Reason, DefaultReason), ids...); err != nil {
			return w, err
		}
	}
	if err := fg.Drop(ctx, lock, utterances, w.Events); err != nil {
		return w, err
	}
	err = lock.CommitInReserve(ctx, func(tx *store.Tx) error {
		for _, seq := range w.Quarantined {
			if err := tx.DropQuarantined(seq); err != nil {
				return err
			}
		}
		return fg.c.Withdraw(tx, store.Targets{Memories: memories, Utterances: utterances, Events: w.Events})
	})
	if err != nil {
		return w, err
	}
	if err := fg.c.Flush(ctx, lock); err != nil { // rewrites the segments that contained it
		return w, err
	}
	return w, fg.c.Compact(ctx)
}

func (fg *Forgetting) choiceOf(ctx context.Context, todo *Plan) (c Chosen, err error) {
	c.Events, c.Quarantined = todo.Events, todo.Quarantined
	for _, id := range todo.Memories {
		c.Memories = append(c.Memories, memory.Memory{ID: id})
	}
	for _, id := range todo.Utterances {
		c.Utterances = append(c.Utterances, memory.Utterance{ID: id})
	}
	if !todo.Cascade {
		return c, nil
	}
	err = fg.c.Engine.View(ctx, func(tx *store.Tx) error {
		c, err = chooseAgain(tx, c)
		return err
	})
	return c, err
}

// trim bases a memory on the evidence that is left. The memory's assertions, and
// its id, name the evidence that is erased. So the memory is erased, and asserted
// again as it would have been without that evidence. If a memory exists under the
// new id, or one was erased there, that stays as it is.
func (fg *Forgetting) trim(ctx context.Context, lock *engine.Writer, t *Trimmed) error {
	c := t.Memory.Candidate
	c.Evidence = t.Left[max(0, len(t.Left)-memory.MaxEvidence):]
	id := fg.c.MemoryID(t.Left[0].Event, c.Source.Plugin, c.Fingerprint())
	err := store.InBatches([]memory.ID{t.Memory.ID}, func(fn func(*store.Tx) error) error {
		return lock.Commit(ctx, fn)
	}, func(tx *store.Tx, ids []memory.ID) error {
		if _, err := fg.c.Engine.Erase(tx, engine.Person, "what it was made from was forgotten in part", ids...); err != nil {
			return err
		}
		return fg.c.Engine.AssertAs(tx, id, &c, &t.Memory)
	})
	if err != nil {
		return fmt.Errorf("keep %s on other evidence: %w", t.Memory.ID, err)
	}
	return nil
}

// DefaultReason is the reason for an erasure if no other is given.
const DefaultReason = "erased by the wearer"

// Drop erases lines and then events, however many there are.
func (fg *Forgetting) Drop(ctx context.Context, lock *engine.Writer, lines []memory.ID, events []memory.EventID) error {
	erase := func(t store.Targets) error {
		return lock.CommitInReserve(ctx, func(tx *store.Tx) error { return tx.Erase(t) })
	}
	for us := range slices.Chunk(lines, forgetPage) {
		if err := erase(store.Targets{Utterances: us}); err != nil {
			return err
		}
	}
	for es := range slices.Chunk(events, forgetPage) {
		if err := erase(store.Targets{Events: es}); err != nil {
			return err
		}
	}
	return nil
}

// EraseOut removes a memory and some lines from every file.
func (fg *Forgetting) EraseOut(ctx context.Context, lock *engine.Writer, id memory.ID, lines []memory.ID) error {
	if _, err := lock.Erase(ctx, engine.Person, DefaultReason, id); err != nil {
		return err
	}
	if err := fg.Drop(ctx, lock, lines, nil); err != nil {
		return err
	}
	if err := fg.c.Flush(ctx, lock); err != nil {
		return err
	}
	return fg.c.Compact(ctx)
}
