package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// applyPage is how many ops one transaction takes, which holds about 200
// assertions.
const applyPage = 64

// Apply implements replica.Journal. To take an op twice changes nothing, so
// that a delta of several transactions can begin anew after a crash.
func (l *Ledger) Apply(ctx context.Context, in replica.Incoming, s replica.State) error {
	not := unheld{}
	err := l.paged(ctx, len(in.Ops), func(tx *store.Tx, from, to int, last bool) error {
		for i := from; i < to; i++ {
			err := l.take(tx, &in, i, not)
			if err = not.add(number(uint64(i)), err); err != nil {
				return err
			}
		}
		if l.Shelf {
			if err := l.locateOthers(tx, &in, from, to); err != nil {
				return err
			}
		}
		if !last {
			return nil
		}
		if in.Author.ID == l.Member && to > 0 && !l.Shelf {
			// One of ours that we did not know of: a relay had taken it and said
			// that it had not, or a backup was put back. It is to be emptied like
			// any other when something of it is forgotten, or was.
			if err := l.sent(tx, in.Header.Position(), in.Ops); err != nil {
				return err
			}
		}
		return l.save(tx, s)
	})
	if err != nil || len(in.Ops) == 0 {
		return err
	}
	return l.again(ctx)
}

// paged has n things written by do, so many to a transaction, and fewer where
// they don't fit into one. last is that of the final transaction; there is one
// even of nothing.
func (l *Ledger) paged(ctx context.Context, n int, do func(tx *store.Tx, from, to int, last bool) error) error {
	page := applyPage
	for from := 0; ; {
		to := min(from+page, n)
		last := to == n
		err := l.write(ctx, func(tx *store.Tx) error { return do(tx, from, to, last) })
		switch {
		case errors.Is(err, errUnheld): // without it, the same once more
		case errors.Is(err, store.ErrTooLarge) && page > 1:
			page /= 2
		case err != nil:
			return err
		case last:
			return nil
		default:
			from = to
		}
	}
}

// take applies one op, or sets it aside. [memory.ErrInvalid]: the store does not
// hold it, and some of it may be written.
func (l *Ledger) take(tx *store.Tx, in *replica.Incoming, i int, not unheld) error {
	op := &in.Ops[i]
	place := in.Header.Position()
	p := replica.Problem{At: in.At, Cursor: in.Cursor, Member: in.Author.ID, Place: &place, Op: i + 1}
	if in.Grant != nil {
		if err := l.hire(tx, in.Author.ID, in.Grant.Bytes()); err != nil {
			return err
		}
		if err := l.count(tx, op); err != nil {
			return err
		}
		if u := op.Utterance; u != nil { // by the key that signed it, not by what it claims: a revert goes by that
			said := *u
			said.Source = u.Source.AsWorker()
			op = &delta.Op{Utterance: &said}
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

// apply takes an op that breaks no rule. [memory.ErrInvalid]: the store does not
// hold it, and some of it may be written.
func (l *Ledger) apply(tx *store.Tx, op *delta.Op) error {
	switch {
	case op.Assertion != nil:
		a := op.Assertion
		if _, err := tx.AssertRemote(*a); err != nil {
			return err
		}
		if l.Heard != nil {
			l.Heard(a.Clock)
		}
		if a.Act == memory.ActErase {
			return l.forget(tx, store.Targets{Memories: []memory.ID{a.Memory}})
		}
		return nil
	case op.Utterance != nil:
		if err := tx.PutRemoteUtterance(op.Utterance); err != nil {
			return err
		}
		return l.reworded(tx, op.Utterance.ID)
	case op.Forget != nil:
		return l.forget(tx, store.Targets{Memories: op.Forget.Memories, Utterances: op.Forget.Utterances, Events: op.Forget.Events})
	case op.Blob != nil:
		return l.noteBlob(tx, op.Blob)
	case op.Gone != nil:
		return nil // the replica holds the relay to it
	}
	return fmt.Errorf("%w: op: empty", memory.ErrInvalid)
}

func (l *Ledger) forget(tx *store.Tx, t store.Targets) error {
	if err := tx.EraseRemote(t); err != nil {
		return err
	}
	if l.Forgot != nil {
		l.Forgot(t)
	}
	if err := l.dropBlobs(tx, t.Memories); err != nil {
		return err
	}
	if err := l.dropOthers(tx, append(slices.Clone(t.Memories), t.Utterances...)); err != nil {
		return err
	}
	return l.recall(tx, t.Memories, t.Utterances)
}
