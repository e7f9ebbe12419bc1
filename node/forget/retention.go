package forget

import (
	"context"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/retention"
	"github.com/locket-dev/locket/node/serve"
)

// SweepEvery is how often retention is applied.
const SweepEvery = time.Hour

// Sweep applies retention. now is the clock of events, not the wall clock: a device
// that was in a drawer for a month forgets nothing because of that. purge removes
// processed events from the journal.
func (fg *Forgetting) Sweep(ctx context.Context, now time.Time, purge func(context.Context) error) error {
	e, err := fg.endings(ctx, fg.c.Retention, fg.c.Rules, now)
	if err != nil || len(e.Memories)+len(e.Utterances) == 0 {
		return err
	}
	todo := Plan{Reason: "its time was over"}
	for _, m := range e.Memories {
		todo.Memories = append(todo.Memories, m.ID)
	}
	for _, u := range e.Utterances {
		todo.Utterances = append(todo.Utterances, u.ID)
	}
	if _, err := fg.Forget(ctx, todo); err != nil {
		return err
	}
	asked := fg.ConfirmedPlans()
	if err := purge(ctx); err != nil {
		return err
	}
	return fg.Done(ctx, asked)
}

func (fg *Forgetting) endings(ctx context.Context, keep *config.Retention, rules []config.Rule, now time.Time) (e retention.Endings, err error) {
	err = fg.c.Engine.View(ctx, func(tx *store.Tx) error {
		e, err = retention.Find(tx, keep, rules, now)
		return err
	})
	return e, err
}

// Retention implements serve.Keeper.
func (fr Forgetter) Retention(ctx context.Context, q serve.RetentionQuery) (r serve.RetentionAnswer, err error) {
	fg, release, err := fr.of.Use()
	if err != nil {
		return r, err
	}
	defer release()
	keep, rules := *fg.c.Retention, fg.c.Rules
	if q.Try != "" {
		if keep, rules, err = keep.With(strings.Split(q.Try, "\n")); err != nil {
			return r, serve.InField("try", err)
		}
	}
	lock := fg.c.Engine.AcquireWriter()
	latest := fg.c.Chain.Latest(lock)
	lock.Release()
	r = serve.RetentionAnswer{Clock: Earlier(latest, time.Now()), Rules: serve.NonNil(keep.Rules)}
	e, err := fg.endings(ctx, &keep, rules, r.Clock)
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

// Earlier returns the clock of events, or the wall clock if that is behind. An
// event with a date in the future must not end the retention of what is from today.
func Earlier(event, wall time.Time) time.Time {
	if event.After(wall) {
		return wall
	}
	return event
}
