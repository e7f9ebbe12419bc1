package journal

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// askPage is how many ops that waited are taken in one transaction.
const askPage = 32

// again asks once more of those that wait, now that more has come, until none
// of them makes another one's turn come. What a crash leaves is asked for when more comes.
func (l *Ledger) again(ctx context.Context) error {
	waits := false
	err := l.view(ctx, func(tx *store.Tx) error {
		members, err := l.waiters(tx)
		waits = len(members) > 0
		return err
	})
	if err != nil || !waits {
		return err
	}
	not := unheld{}
	for page, only := askPage, ""; ; {
		asked := asking{not: not, left: page, one: page == 1, only: only}
		err := l.write(ctx, func(tx *store.Tx) error {
			return l.sift(tx, func(ident string, w *waiting) error { return l.askAgain(tx, ident, w, &asked) })
		})
		switch {
		case errors.Is(err, errUnheld): // without it, the same once more
		case errors.Is(err, store.ErrTooLarge) && page > 1:
			page /= 2
		case err != nil || !asked.took:
			return err
		default:
			only = asked.next
		}
	}
}

// asking is one transaction in which those that wait are asked.
type asking struct {
	not  unheld
	left int    // how many may be taken yet
	took bool   // some were
	one  bool   // even two were too much
	only string // not empty: no other is asked
	next string // only, in the next transaction
}

func (l *Ledger) askAgain(tx *store.Tx, ident string, w *waiting, asked *asking) error {
	if asked.left == 0 || asked.only != "" && ident != asked.only {
		return nil
	}
	g, err := delta.ParseGrant(w.Grant)
	if err != nil {
		return err
	}
	op := &delta.Op{Assertion: w.Assertion, Utterance: w.Utterance}
	k := &known{l: l, tx: tx}
	v, why := delta.Accept(op, w.Problem.Member, g, k)
	if k.err != nil {
		return k.err
	}
	if waits := v == delta.Waiting; waits || v == delta.Misquoted {
		if w.Problem.Waits == waits {
			return nil
		}
		w.Problem.Waits = waits
		return l.putWaiting(tx, ident, *w)
	}
	asked.left, asked.took = asked.left-1, true
	if v == delta.Accepted && op.Utterance != nil && asked.one {
		if more, err := l.yield(tx, op.Utterance); err != nil || more {
			asked.next = ident // those that yielded would be taken again
			return err
		}
	}
	if err := l.dropWaiting(tx, w.Problem.Member, ident); err != nil {
		return err
	}
	if v == delta.Accepted {
		unheld, is := asked.not[ident]
		if !is {
			if err := asked.not.add(ident, l.apply(tx, op)); err != nil {
				return err
			}
			return l.clear(tx, ident, nil)
		}
		why = unheld
	}
	w.Problem.Reason, w.Problem.Waits = why, false
	return l.clear(tx, ident, &w.Problem)
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
			by.Reason = brief(by.Reason)
			a = aside{*by, identOf(by)}
		}
		out = append(out, a)
	}
	return tx.PutMeta(l.note("aside"), out)
}

// keepable reports whether a worker's op could wait: [memory.ErrInvalid]. One that
// could not is refused even where nothing has to be waited for, so that what
// becomes of it does not depend on what came first.
func (l *Ledger) keepable(tx *store.Tx, op *delta.Op) error {
	return tx.FitsMeta(l.opNote(identOf(&replica.Problem{})), said{op.Assertion, op.Utterance})
}

// said is what a waiting op says.
type said struct {
	Assertion *memory.Assertion `json:"a,omitempty"`
	Utterance *memory.Utterance `json:"u,omitempty"`
}
