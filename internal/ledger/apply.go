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
	return l.paged(ctx, len(in.Ops), func(tx *store.Tx, from, to int, last bool) error {
		for i := from; i < to; i++ {
			if err := l.take(tx, &in, i); err != nil {
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
		if to > 0 {
			if err := l.again(tx); err != nil {
				return err
			}
		}
		return l.save(tx, s)
	})
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

// take applies one op, or sets it aside.
func (l *Ledger) take(tx *store.Tx, in *replica.Incoming, i int) error {
	op := &in.Ops[i]
	place := in.Header.Position()
	p := replica.Problem{At: in.At, Cursor: in.Cursor, Member: in.Author.ID, Place: &place, Op: i + 1}
	if in.Grant != nil {
		if err := l.cite(tx, op); err != nil {
			return err
		}
		k := &known{l: l, tx: tx}
		v, why := delta.Accept(op, *in.Grant, k)
		if k.err != nil {
			return k.err
		}
		p.Reason = why
		switch v {
		case delta.Refused:
			return l.setAside(tx, p)
		case delta.Waiting:
			p.Waits = true
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
	err := l.apply(tx, op)
	if errors.Is(err, memory.ErrInvalid) {
		p.Reason = err.Error()
		return l.setAside(tx, p)
	}
	return err
}

// apply takes an op that breaks no rule; [memory.ErrInvalid] before anything
// was written.
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
		return tx.PutRemoteUtterance(op.Utterance)
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

// waiting is an op of a worker that was set aside until more has come.
type waiting struct {
	Problem   replica.Problem   `json:"p"`
	Assertion *memory.Assertion `json:"a,omitempty"`
	Utterance *memory.Utterance `json:"u,omitempty"`
	Grant     []byte            `json:"g"`
}

// maxWaiting is how many wait; what comes beyond is set aside for good.
const maxWaiting = 100

// waits is the list of those that wait, by their idents.
func (l *Ledger) waits(tx *store.Tx) (list []string, err error) {
	_, err = tx.Meta(l.note("waits"), &list)
	return list, err
}

func (l *Ledger) wait(tx *store.Tx, p replica.Problem, op *delta.Op, g *delta.Grant) error {
	list, err := l.waits(tx)
	if err != nil {
		return err
	}
	if len(list) >= maxWaiting {
		p.Waits, p.Reason = false, p.Reason+"; and too many wait"
		return l.setAside(tx, p)
	}
	ident := identOf(&p)
	if err := l.setAside(tx, p); err != nil {
		return err
	}
	w := waiting{Problem: p, Assertion: op.Assertion, Utterance: op.Utterance, Grant: g.Bytes()}
	if err := tx.PutMeta(l.note("wait", ident), w); err != nil {
		return err
	}
	for _, have := range list {
		if have == ident {
			return nil
		}
	}
	return tx.PutMeta(l.note("waits"), append(list, ident))
}

// again asks once more of those that wait, now that more has come.
func (l *Ledger) again(tx *store.Tx) error {
	return l.sift(tx, func(ident string, w *waiting) (bool, error) { return l.askAgain(tx, ident, w) })
}

// sift asks keep of each that waits, and takes the others off the list.
func (l *Ledger) sift(tx *store.Tx, keep func(ident string, w *waiting) (bool, error)) error {
	list, err := l.waits(tx)
	if err != nil {
		return err
	}
	var left []string
	for _, ident := range list {
		var w waiting
		ok, err := tx.Meta(l.note("wait", ident), &w)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		still, err := keep(ident, &w)
		if err != nil {
			return err
		}
		if still {
			left = append(left, ident)
		}
	}
	if len(left) == len(list) {
		return nil
	}
	return tx.PutMeta(l.note("waits"), left)
}

func (l *Ledger) askAgain(tx *store.Tx, ident string, w *waiting) (still bool, err error) {
	g, err := delta.ParseGrant(w.Grant)
	if err != nil {
		return false, err
	}
	op := &delta.Op{Assertion: w.Assertion, Utterance: w.Utterance}
	k := &known{l: l, tx: tx}
	v, why := delta.Accept(op, g, k)
	if k.err != nil {
		return false, k.err
	}
	if v == delta.Waiting {
		return true, nil
	}
	if err := tx.DeleteMeta(l.note("wait", ident)); err != nil {
		return false, err
	}
	if v == delta.Accepted {
		if err := l.apply(tx, op); err == nil {
			return false, l.clear(tx, ident, nil)
		} else if !errors.Is(err, memory.ErrInvalid) {
			return false, err
		} else {
			why = err.Error()
		}
	}
	w.Problem.Reason, w.Problem.Waits = why, false
	return false, l.clear(tx, ident, &w.Problem)
}

// clear takes a problem off the list, or replaces it.
func (l *Ledger) clear(tx *store.Tx, ident string, by *replica.Problem) error {
	list, err := l.asides(tx)
	if err != nil {
		return err
	}
	var out []aside
	for _, a := range list {
		if a.Ident == ident {
			if by == nil {
				continue
			}
			a = aside{*by, identOf(by)}
		}
		out = append(out, a)
	}
	return tx.PutMeta(l.note("aside"), out)
}
