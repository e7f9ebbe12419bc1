package journal

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// askPage is how many waiting ops are taken in one transaction.
const askPage = 32

// retryWaiting tries the waiting ops after something new came. It repeats this until
// no op that it takes makes another one possible. After a crash, the rest is
// tried when something new comes again.
func (j *Journal) retryWaiting(ctx context.Context) error {
	waits := false
	err := j.Store.View(ctx, func(tx *store.Tx) error {
		members, err := j.parkedMembers(tx)
		waits = len(members) > 0
		return err
	})
	if err != nil || !waits {
		return err
	}
	not := unstorable{}
	for page, only := askPage, ""; ; {
		asked := retryTx{not: not, budget: page, single: page == 1, only: only}
		err := j.write(ctx, func(tx *store.Tx) error {
			return j.eachParked(tx, func(ident string, w *parked) error { return j.retryOne(tx, ident, w, &asked) })
		})
		switch {
		case errors.Is(err, errUnstorable): // the next try leaves out the op that the store can't hold
		case errors.Is(err, store.ErrTooLarge) && page > 1:
			page /= 2
		case err != nil || !asked.progressed:
			return err
		default:
			only = asked.next
		}
	}
}

// retryTx is one transaction in which waiting ops are tried.
type retryTx struct {
	not        unstorable
	budget     int    // how many more ops may be taken
	progressed bool   // at least one op was taken
	single     bool   // a transaction for two ops was too large
	only       string // not empty: try only this one
	next       string // value of only in the next transaction
}

func (j *Journal) retryOne(tx *store.Tx, ident string, w *parked, asked *retryTx) error {
	if asked.budget == 0 || asked.only != "" && ident != asked.only {
		return nil
	}
	g, err := delta.ParseGrant(w.Grant)
	if err != nil {
		return err
	}
	op := &delta.Op{Assertion: w.Assertion, Utterance: w.Utterance}
	k := &lookup{j: j, tx: tx}
	v, why := delta.Accept(op, w.Problem.Member, g, k)
	if k.err != nil {
		return k.err
	}
	if waits := v == delta.Waiting; waits || v == delta.Misquoted {
		if w.Problem.Waits == waits {
			return nil
		}
		w.Problem.Waits = waits
		return j.putParked(tx, ident, *w)
	}
	asked.budget, asked.progressed = asked.budget-1, true
	if v == delta.Accepted && op.Utterance != nil && asked.single {
		if more, err := j.withdrawOne(tx, op.Utterance); err != nil || more {
			asked.next = ident // otherwise the ops that were withdrawn for this one would be tried before it
			return err
		}
	}
	if err := j.dropParked(tx, w.Problem.Member, ident); err != nil {
		return err
	}
	if v == delta.Accepted {
		unstored, is := asked.not[ident]
		if !is {
			if err := asked.not.add(ident, j.apply(tx, op)); err != nil {
				return err
			}
			return j.clearProblem(tx, ident, nil)
		}
		why = unstored
	}
	w.Problem.Reason, w.Problem.Waits = why, false
	return j.clearProblem(tx, ident, &w.Problem)
}

// clearProblem removes a problem. If by is not nil, it takes the problem's place.
func (j *Journal) clearProblem(tx *store.Tx, ident string, by *replica.Problem) error {
	list, err := j.quarantined(tx)
	if err != nil {
		return err
	}
	var out []quarantined
	for _, a := range list {
		if a.Ident == ident {
			if by == nil {
				continue
			}
			by.Reason = brief(by.Reason)
			a = quarantined{*by, identOf(by)}
		}
		out = append(out, a)
	}
	return tx.PutMeta(j.note("aside"), out)
}

// checkKeepable returns [memory.ErrInvalid] for a worker's op that is too large to
// be kept waiting. Such an op is refused even if it need not wait, so that the
// outcome does not depend on the order in which ops come.
func (j *Journal) checkKeepable(tx *store.Tx, op *delta.Op) error {
	return tx.FitsMeta(j.opNote(identOf(&replica.Problem{})), waitingOp{op.Assertion, op.Utterance})
}

// waitingOp is the content of a waiting op.
type waitingOp struct {
	Assertion *memory.Assertion `json:"a,omitempty"`
	Utterance *memory.Utterance `json:"u,omitempty"`
}
