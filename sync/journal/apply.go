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

// Apply implements replica.Journal. To take an op twice changes nothing, so
// that a delta of several transactions can begin anew after a crash.
func (l *Ledger) Apply(ctx context.Context, in replica.Incoming, s replica.State) error {
	var steps []step
	not := unheld{}
	for i := range in.Ops {
		steps = append(steps, l.takeSteps(&in, i, not)...)
	}
	if in.Author.ID == l.Member && len(in.Ops) > 0 && !l.Shelf {
		// One of ours that we did not know of: a relay had taken it and said
		// that it had not, or a backup was put back. It is to be emptied like
		// any other when something of it is forgotten, or was.
		steps = append(steps, l.sentSteps(in.Header.Position(), in.Ops)...)
	}
	steps = append(steps, whole(func(tx *store.Tx) error { return l.save(tx, s) }))
	if err := inSteps(ctx, l.write, applyPage, steps); err != nil {
		return err
	}
	if len(in.Ops) == 0 {
		return nil
	}
	if err := l.emptyDue(ctx); err != nil {
		return err
	}
	return l.again(ctx)
}

// takeSteps takes one op. What it erases goes in steps of its own: one op can name
// more than a transaction takes away.
func (l *Ledger) takeSteps(in *replica.Incoming, i int, not unheld) []step {
	op, name := &in.Ops[i], number(uint64(i))
	switch {
	case in.Grant != nil: // a worker erases nothing
	case op.Forget != nil:
		return l.forgetSteps(targetsOf(op.Forget), nil)
	case op.Assertion != nil && op.Assertion.Act == memory.ActErase:
		var refused bool
		said := whole(func(tx *store.Tx) error {
			var why string
			if why, refused = not[name]; refused {
				p := problemOf(in, i)
				p.Reason = why
				return l.refuse(tx, p, op)
			}
			return not.add(name, l.applyAssertion(tx, op.Assertion))
		})
		return append([]step{said}, l.forgetSteps(store.Targets{Memories: []memory.ID{op.Assertion.Memory}}, &refused)...)
	}
	return []step{func(tx *store.Tx, page int) (bool, error) {
		if u := l.said(in, op); u != nil && page == 1 {
			if more, err := l.yield(tx, u); err != nil || more {
				return more, err
			}
		}
		err := l.take(tx, in, i, not)
		if err = not.add(name, err); err != nil || !l.Shelf {
			return false, err
		}
		return false, l.locateOthers(tx, in, i)
	}}
}

// said is an utterance as its author's: by the key that signed it, not by what it
// claims, as a revert goes by that. nil: the op is another.
func (l *Ledger) said(in *replica.Incoming, op *delta.Op) *memory.Utterance {
	u := op.Utterance
	if u == nil || in.Grant == nil {
		return u
	}
	said := *u
	said.Source = u.Source.AsWorker()
	return &said
}

// problemOf is one with an op; its reason is not in it.
func problemOf(in *replica.Incoming, i int) replica.Problem {
	place := in.Header.Position()
	return replica.Problem{At: in.At, Cursor: in.Cursor, Member: in.Author.ID, Place: &place, Op: i + 1}
}

// take applies one op, or sets it aside. [memory.ErrInvalid]: the store does not
// hold it, and some of it may be written.
func (l *Ledger) take(tx *store.Tx, in *replica.Incoming, i int, not unheld) error {
	op := &in.Ops[i]
	p := problemOf(in, i)
	if in.Grant != nil {
		if err := l.hire(tx, in.Author.ID, in.Grant.Bytes()); err != nil {
			return err
		}
		if err := l.count(tx, op); err != nil {
			return err
		}
		if u := l.said(in, op); u != nil {
			op = &delta.Op{Utterance: u}
		}
		if err := l.keepable(tx, op); errors.Is(err, memory.ErrInvalid) {
			p.Reason = "larger than what may wait: " + err.Error()
			return l.refuse(tx, p, op)
		} else if err != nil {
			return err
		}
		k := &known{l: l, tx: tx}
		v, why := delta.Accept(op, in.Author.ID, *in.Grant, k)
		if k.err != nil {
			return k.err
		}
		p.Reason = why
		switch v {
		case delta.Refused:
			return l.setAside(tx, p)
		case delta.Waiting, delta.Misquoted:
			p.Waits = v == delta.Waiting
			return l.wait(tx, p, op, in.Grant)
		}
	}
	if op.Report != nil {
		if in.Grant == nil {
			p.Reason = "only a worker reports on its work"
			return l.setAside(tx, p)
		}
		return l.keepReport(tx, in, op.Report)
	}
	if why, is := not[number(uint64(i))]; is {
		p.Reason = why
		return l.refuse(tx, p, op)
	}
	return l.apply(tx, op)
}

// apply takes an op that breaks no rule. None here erases: what a body erases goes in
// steps of its own, a snapshot has ids of that, and a worker erases nothing.
// [memory.ErrInvalid]: the store does not hold it, and some of it may be written.
func (l *Ledger) apply(tx *store.Tx, op *delta.Op) error {
	switch {
	case op.Assertion != nil:
		return l.applyAssertion(tx, op.Assertion)
	case op.Utterance != nil:
		if err := tx.PutRemoteUtterance(op.Utterance); err != nil {
			return err
		}
		return l.reworded(tx, op.Utterance.ID)
	case op.Blob != nil:
		return l.noteBlob(tx, op.Blob)
	case op.Gone != nil:
		return nil // the replica holds the relay to it
	}
	return fmt.Errorf("%w: op: empty", memory.ErrInvalid)
}

func (l *Ledger) applyAssertion(tx *store.Tx, a *memory.Assertion) error {
	if _, err := tx.AssertRemote(*a); err != nil {
		return err
	}
	if l.Heard != nil {
		l.Heard(a.Clock)
	}
	return nil
}
