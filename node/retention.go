package node

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/retention"
	"github.com/locket-dev/locket/node/serve"
)

// sweepEvery is how often retention is looked at.
const sweepEvery = time.Hour

// sweep lets go of what retention has ended. now is the clock of events, not
// the wall's: a device that lay in a drawer for a month forgets nothing for
// that. It runs in the pump's goroutine, where there is a pump.
func (n *Node) sweep(ctx context.Context, o *session, now time.Time) error {
	e, err := n.endings(ctx, o, now)
	if err != nil || len(e.Memories)+len(e.Utterances) == 0 {
		return err
	}
	todo := forgetOrder{Reason: "its time was over"}
	for _, m := range e.Memories {
		todo.Memories = append(todo.Memories, m.ID)
	}
	for _, u := range e.Utterances {
		todo.Utterances = append(todo.Utterances, u.ID)
	}
	if _, err := n.forgetIn(ctx, o, todo); err != nil {
		return err
	}
	asked := o.orders.Load()
	if o.pump != nil && o.stop != nil {
		if err := o.pump.purge(ctx, nil); err != nil {
			return err
		}
	}
	return o.forgotten(ctx, asked)
}

func (n *Node) endings(ctx context.Context, o *session, now time.Time) (e retention.Endings, err error) {
	err = o.store.View(ctx, func(tx *store.Tx) error {
		e, err = retention.Find(tx, &n.cfg.Retention, n.rules, now)
		return err
	})
	return e, err
}

// Retention implements serve.Keeper.
func (n *Node) Retention(ctx context.Context) (r serve.RetentionAnswer, err error) {
	o, release, err := n.use()
	if err != nil {
		return r, err
	}
	defer release()
	lock := o.engine.Hold()
	latest := o.extract.Latest()
	lock.Release()
	r = serve.RetentionAnswer{Clock: earlier(latest, time.Now()), Rules: serve.Some(n.cfg.Retention.Rules)}
	e, err := n.endings(ctx, o, r.Clock)
	if err != nil {
		return r, err
	}
	list := func(in []retention.Ending) []serve.Ending {
		out := make([]serve.Ending, len(in))
		for i, x := range in {
			out[i] = serve.Ending{Related: serve.Related{ID: x.ID, Text: x.Text, At: x.At}, Why: x.Why}
		}
		return out
	}
	r.Memories, r.Utterances = list(e.Memories), list(e.Utterances)
	return r, nil
}

// earlier is the clock of events, or the wall's where that is behind: a time
// from the future must not end what is of today.
func earlier(event, wall time.Time) time.Time {
	if event.After(wall) {
		return wall
	}
	return event
}
