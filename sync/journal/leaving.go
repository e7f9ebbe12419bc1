package journal

import (
	"context"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// When something is erased, the bodies of our deltas that contain it have to
// be removed. This takes three steps. The delta is marked as due. Then the
// rest of its content is put into the outbox again; cold memories in it have
// to be fetched before. Then the relay removes the body. There may be any
// number of such deltas with any amount of content, so each has its own
// transactions.

// emptying is a delta whose body is removed from the relay as soon as the outbox
// was sent up to entry After. By then a later delta repeats the content that
// is not erased.
type emptying struct {
	At    envelope.Position `json:"p"`
	After uint64            `json:"a"`
}

// dueDeltas lists the deltas that contain something erased. dueWithCold lists those of
// them that also contain cold memories. emptyingDeltas lists the deltas whose content
// was put into the outbox again.
func (j *Journal) dueDeltas() pages[envelope.Position] { return pages[envelope.Position]{j, "due"} }
func (j *Journal) dueWithCold() pages[envelope.Position] {
	return pages[envelope.Position]{j, "unready"}
}
func (j *Journal) emptyingDeltas() pages[emptying] { return pages[emptying]{j, "going"} }

// markOwnDeltas marks our deltas that contain something of what was erased.
func (j *Journal) markOwnDeltas(tx *store.Tx, erased []memory.ID) error {
	var all []envelope.Position
	for _, id := range erased {
		var places []envelope.Position
		if ok, err := tx.Meta(j.note("in", id.String()), &places); err != nil {
			return err
		} else if !ok {
			continue
		}
		all = append(all, places...)
		if err := tx.DeleteMeta(j.note("in", id.String())); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	return j.dueDeltas().add(tx, all...)
}

// emptyDeltas handles the deltas that are due. After a crash, the next call
// continues.
func (j *Journal) emptyDeltas(ctx context.Context) error {
	var due []envelope.Position
	err := j.Store.View(ctx, func(tx *store.Tx) (err error) { due, err = j.dueDeltas().all(tx); return err })
	if err != nil {
		return err
	}
	for _, at := range due {
		if err := j.emptyDelta(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) emptyDelta(ctx context.Context, at envelope.Position) error {
	var m manifest
	there, waits := false, false
	err := j.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if there, err = tx.Meta(j.manifestNote(at), &m); err != nil {
			return err
		}
		if there {
			if waits, err = containsCold(tx, &m); err != nil || !waits {
				return err
			}
			if err := j.dueWithCold().add(tx, at); err != nil {
				return err
			}
		}
		return j.removeDue(tx, at) // the delta was handled before, or it waits for cold memories
	})
	if err != nil || !there || waits {
		return err
	}
	return runSteps(ctx, j.Store.Update, notePage, append(j.resend(&m), singleStep(func(tx *store.Tx) error {
		if err := j.emptyingDeltas().add(tx, emptying{At: at, After: tx.LastPosted()}); err != nil {
			return err
		}
		if err := j.removeDue(tx, at); err != nil {
			return err
		}
		return tx.DeleteMeta(j.manifestNote(at))
	})))
}

func (j *Journal) removeDue(tx *store.Tx, at envelope.Position) error {
	return j.dueDeltas().remove(tx, func(p envelope.Position) bool { return p == at })
}

// resend puts into the outbox what a delta contained, except what is erased.
func (j *Journal) resend(m *manifest) (steps []step) {
	say := func(do func(*store.Tx) error) { steps = append(steps, singleStep(do)) }
	for _, s := range m.Assertions {
		say(func(tx *store.Tx) error { _, err := tx.Resend(s.Memory, s.Dot); return err })
	}
	for _, s := range m.Erasures {
		say(func(tx *store.Tx) error { _, err := tx.Resend(s.Memory, s.Dot); return err })
	}
	for _, t := range m.Forgot {
		say(func(tx *store.Tx) error { return tx.ResendErasure(t) })
	}
	for _, id := range m.Utterances {
		say(func(tx *store.Tx) error { _, err := tx.ResendUtterance(id); return err })
	}
	for _, b := range m.Blobs {
		say(func(tx *store.Tx) error {
			erased, err := tx.Erased(b.Owner)
			switch {
			case err != nil:
				return err
			case erased:
				return j.doubt(tx, b.Sealed)
			}
			return j.resendBlobs(tx, b.Owner)
		})
	}
	return steps
}

// containsCold reports whether a delta contains cold memories, and asks for them.
func containsCold(tx *store.Tx, m *manifest) (any bool, err error) {
	for _, s := range m.Assertions {
		if erased, err := tx.Erased(s.Memory); err != nil || erased {
			if err != nil {
				return any, err
			}
			continue
		}
		_, is, err := tx.Cold(s.Memory)
		if err == nil && is {
			any = true
			err = tx.Want(s.Memory)
		}
		if err != nil {
			return any, err
		}
	}
	return any, nil
}

// ResumeWaiting continues with the deltas, and with the workers' waiting ops, whose
// cold memories are on the device again.
func (j *Journal) ResumeWaiting(ctx context.Context) error {
	if err := j.retryThawed(ctx); err != nil {
		return err
	}
	var waiting []envelope.Position
	err := j.Store.View(ctx, func(tx *store.Tx) (err error) { waiting, err = j.dueWithCold().all(tx); return err })
	if err != nil || len(waiting) == 0 {
		return err
	}
	err = j.Store.Update(ctx, func(tx *store.Tx) error {
		if err := j.dueWithCold().remove(tx, func(envelope.Position) bool { return true }); err != nil {
			return err
		}
		return j.dueDeltas().add(tx, waiting...)
	})
	if err != nil {
		return err
	}
	return j.emptyDeltas(ctx)
}

func (j *Journal) Removals(ctx context.Context) (f replica.Removals, err error) {
	if err := j.emptyDeltas(ctx); err != nil { // deltas that a crash left unfinished
		return f, err
	}
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		bodies, err := j.emptyingDeltas().all(tx)
		if err != nil {
			return err
		}
		waits := uint64(1<<64 - 1) // number of the first outbox entry that was not sent
		for o, err := range tx.Outbox(0) {
			if err != nil {
				return err
			}
			waits = o.Seq
			break
		}
		for _, g := range bodies {
			if g.After < waits {
				f.Bodies = append(f.Bodies, replica.Ref{Member: j.Member, Position: g.At})
			}
		}
		others, err := j.otherDeltas().all(tx)
		f.Bodies = append(f.Bodies, others...)
		return err
	})
	return f, err
}

func (j *Journal) RecordRemovals(ctx context.Context, f replica.Removals) error {
	gone := map[replica.Ref]bool{}
	for _, r := range f.Bodies {
		gone[r] = true
	}
	return j.Store.Update(ctx, func(tx *store.Tx) error {
		err := j.emptyingDeltas().remove(tx, func(g emptying) bool { return gone[replica.Ref{Member: j.Member, Position: g.At}] })
		if err != nil {
			return err
		}
		return j.otherDeltas().remove(tx, func(r replica.Ref) bool { return gone[r] })
	})
}
