package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// Apply implements replica.Journal. Taking an op twice changes nothing, so a
// delta that needs several transactions can be applied again after a crash.
func (j *Journal) Apply(ctx context.Context, in replica.Incoming, s replica.State) error {
	var steps []step
	not := unstorable{}
	for i := range in.Ops {
		steps = append(steps, j.takeSteps(&in, i, not)...)
	}
	if in.Author.ID == j.Member && len(in.Ops) > 0 && !j.Envelopes {
		// This device sent the delta and does not know it, because a relay took
		// it and denied it, or because a backup was restored. Its body has to
		// be removed, like that of any of our deltas, when something in it is
		// erased.
		steps = append(steps, j.sentSteps(in.Header.Position(), in.Ops)...)
	}
	steps = append(steps, singleStep(func(tx *store.Tx) error { return j.save(tx, s) }))
	defer j.sources.Store(nil) // there may be many
	if err := runSteps(ctx, j.write, applyPage, steps); err != nil {
		return err
	}
	if len(in.Ops) == 0 {
		return nil
	}
	if err := j.emptyDeltas(ctx); err != nil {
		return err
	}
	return j.retryWaiting(ctx)
}

// takeSteps returns the steps that take one op. What the op erases gets steps
// of its own, because one op can name more than a transaction can erase.
func (j *Journal) takeSteps(in *replica.Incoming, i int, not unstorable) []step {
	op, name := &in.Ops[i], number(uint64(i))
	switch {
	case in.Grant != nil: // a worker may not erase anything
	case op.Forget != nil:
		return j.forgetSteps(targetsOf(op.Forget), nil)
	case op.Assertion != nil && op.Assertion.Act == memory.ActErase:
		var refused bool
		said := singleStep(func(tx *store.Tx) error {
			var why string
			if why, refused = not[name]; refused {
				p := problemOf(in, i)
				p.Reason = why
				return j.refuse(tx, p, op)
			}
			return not.add(name, j.applyAssertion(tx, op.Assertion))
		})
		return append([]step{said}, j.forgetSteps(store.Targets{Memories: []memory.ID{op.Assertion.Memory}}, &refused)...)
	}
	return []step{func(tx *store.Tx, page int) (bool, error) {
		if u := j.utteranceOf(in, op); u != nil && page == 1 {
			if more, err := j.withdrawOne(tx, u); err != nil || more {
				return more, err
			}
		}
		err := j.applyOp(tx, in, i, not)
		if err = not.add(name, err); err != nil || !j.Envelopes {
			return false, err
		}
		return false, j.locateOthers(tx, in, i)
	}}
}

// utteranceOf returns an op's utterance. Its author is the member whose key signed the
// delta, not the one that the utterance claims, because a revert depends on the
// author. For any other op it returns nil.
func (j *Journal) utteranceOf(in *replica.Incoming, op *delta.Op) *memory.Utterance {
	u := op.Utterance
	if u == nil || in.Grant == nil {
		return u
	}
	said := *u
	said.Source = u.Source.AsWorker()
	return &said
}

// problemOf returns a problem that names an op. The caller adds the reason.
func problemOf(in *replica.Incoming, i int) replica.Problem {
	place := in.Header.Position()
	return replica.Problem{At: in.At, Cursor: in.Cursor, Member: in.Author.ID, Place: &place, Op: i + 1}
}

// applyOp applies one op or quarantines it. It returns [memory.ErrInvalid] if the
// store can't hold the op; a part of the op may then be written.
func (j *Journal) applyOp(tx *store.Tx, in *replica.Incoming, i int, not unstorable) error {
	op := &in.Ops[i]
	p := problemOf(in, i)
	if in.Grant != nil {
		if err := j.addWorker(tx, in.Author.ID, in.Grant.Bytes()); err != nil {
			return err
		}
		if err := j.count(tx, in.Author.ID, op); err != nil {
			return err
		}
		if u := j.utteranceOf(in, op); u != nil {
			op = &delta.Op{Utterance: u}
		}
		if err := j.checkKeepable(tx, op); errors.Is(err, memory.ErrInvalid) {
			p.Reason = "larger than what may wait: " + err.Error()
			return j.refuse(tx, p, op)
		} else if err != nil {
			return err
		}
		k := &lookup{j: j, tx: tx}
		v, why := delta.Accept(op, in.Author.ID, *in.Grant, k)
		if k.err != nil {
			return k.err
		}
		p.Reason = why
		switch v {
		case delta.Refused:
			return j.quarantine(tx, p)
		case delta.Waiting, delta.Misquoted:
			p.Waits = v == delta.Waiting
			return j.park(tx, p, op, in.Grant)
		}
	}
	if op.Report != nil {
		if in.Grant == nil {
			p.Reason = "only a worker reports on its work"
			return j.quarantine(tx, p)
		}
		return j.keepReport(tx, in, op.Report)
	}
	if why, is := not[number(uint64(i))]; is {
		p.Reason = why
		return j.refuse(tx, p, op)
	}
	return j.apply(tx, op)
}

// apply applies an op that breaks no rule. It never erases anything: erasures
// of a delta have steps of their own, and a worker may not erase. It returns
// [memory.ErrInvalid] if the store can't hold the op; a part of the op may then
// be written.
func (j *Journal) apply(tx *store.Tx, op *delta.Op) error {
	switch {
	case op.Assertion != nil:
		return j.applyAssertion(tx, op.Assertion)
	case op.Utterance != nil:
		if err := tx.PutRemoteUtterance(op.Utterance); err != nil {
			return err
		}
		return j.withdrawMisquotes(tx, op.Utterance.ID)
	case op.Blob != nil:
		return j.noteBlob(tx, op.Blob)
	case op.RemovedBodies != nil:
		return nil // the replica uses the announcement; nothing is stored
	}
	return fmt.Errorf("%w: op: empty", memory.ErrInvalid)
}

func (j *Journal) applyAssertion(tx *store.Tx, a *memory.Assertion) error {
	if _, err := tx.AssertRemote(*a); err != nil {
		return err
	}
	if j.OnClock != nil {
		j.OnClock(a.Clock)
	}
	return nil
}
