package forget

import (
	"context"
	"errors"
	"strconv"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// Plan is what the wearer has confirmed to forget, by ids. The store keeps it from
// before the first erasure until no file contains any of it, so that a node that
// is opened after a crash continues with it.
type Plan struct {
	Memories    []memory.ID      `json:"m,omitempty"`
	Utterances  []memory.ID      `json:"u,omitempty"`
	Events      []memory.EventID `json:"e,omitempty"`
	Quarantined []uint64         `json:"q,omitempty"`
	Cascade     bool             `json:"c,omitempty"` // also forget what was made from it
	Reason      string           `json:"r,omitempty"` // for the history; empty: DefaultReason
}

// Names of the notes in the store: one for the number of a plan's parts, and one
// for each part.
const (
	planMeta = "forgetting"
	planPart = "forgetting/"
	planPage = 2000 // ids in one part; an id takes 17 bytes, an event about 30
)

// forgetPage is how many records one transaction erases.
const forgetPage = 50

// Removed is what a plan removed.
type Removed struct {
	Chosen
	Held []memory.EventID // held events that need not wait any longer
}

// Forget carries out a plan here and in shares, but not in the journal.
func (fg *Forgetting) Forget(ctx context.Context, todo Plan) (Removed, error) {
	w, err := fg.forget(ctx, todo)
	if err == nil {
		fg.c.EraseShared(ctx)
	}
	return w, err
}

func (fg *Forgetting) forget(ctx context.Context, todo Plan) (Removed, error) {
	fg.mu.Lock()
	defer fg.mu.Unlock()
	if before, ok, err := fg.readPlan(ctx); err != nil {
		return Removed{}, err
	} else if ok { // its files are not purged yet: the caller purges them together with these
		if _, err := fg.execute(ctx, before); err != nil {
			return Removed{}, err
		}
		if err := fg.dropPlan(ctx); err != nil {
			return Removed{}, err
		}
	}
	fg.unfinished.Store(true)
	fg.plans.Add(1)
	if err := fg.writePlan(ctx, todo); err != nil {
		return Removed{}, err
	}
	return fg.execute(context.WithoutCancel(ctx), todo)
}

// Resume continues a plan that was interrupted. Without one it does nothing.
func (fg *Forgetting) Resume(ctx context.Context) (w Removed, err error) {
	fg.mu.Lock()
	defer fg.mu.Unlock()
	todo, ok, err := fg.readPlan(ctx)
	if err != nil || !ok {
		return w, err
	}
	fg.unfinished.Store(true)
	return fg.execute(ctx, todo)
}

// Done removes the plan, because it is carried out. asked is the number of plans
// at the time when the journal was told to purge. If another plan was confirmed
// since, the purge for that one calls Done again, and this call does nothing.
func (fg *Forgetting) Done(ctx context.Context, asked int64) error {
	fg.mu.Lock()
	defer fg.mu.Unlock()
	if fg.plans.Load() != asked {
		return nil
	}
	err := fg.dropPlan(ctx)
	if err == nil {
		fg.unfinished.Store(false)
	}
	return err
}

func (fg *Forgetting) dropPlan(ctx context.Context) error {
	return fg.c.Engine.CommitInReserve(ctx, func(tx *store.Tx) error {
		names, err := store.Collect(tx.MetaNames(planMeta))
		if err != nil {
			return err
		}
		return tx.DeleteMeta(names...)
	})
}

// writePlan writes a plan in parts, and then the number of parts. Without that
// number the plan does not count.
func (fg *Forgetting) writePlan(ctx context.Context, todo Plan) error {
	var pages []Plan
	page := func() *Plan {
		if n := len(pages); n == 0 || len(pages[n-1].Memories)+len(pages[n-1].Utterances)+len(pages[n-1].Events)+len(pages[n-1].Quarantined) >= planPage {
			pages = append(pages, Plan{Cascade: todo.Cascade, Reason: todo.Reason})
		}
		return &pages[len(pages)-1]
	}
	for _, id := range todo.Memories {
		p := page()
		p.Memories = append(p.Memories, id)
	}
	for _, id := range todo.Utterances {
		p := page()
		p.Utterances = append(p.Utterances, id)
	}
	for _, id := range todo.Events {
		p := page()
		p.Events = append(p.Events, id)
	}
	for _, id := range todo.Quarantined {
		p := page()
		p.Quarantined = append(p.Quarantined, id)
	}
	for i := range pages {
		err := fg.c.Engine.CommitInReserve(ctx, func(tx *store.Tx) error {
			return tx.PutMeta(planPart+strconv.Itoa(i), pages[i])
		})
		if err != nil {
			return err
		}
	}
	return fg.c.Engine.CommitInReserve(ctx, func(tx *store.Tx) error { return tx.PutMeta(planMeta, len(pages)) })
}

// PlanSweep stores an empty plan, unless there is a plan already. It is for a
// transaction that erased something which files and journal must be purged of.
func PlanSweep(tx *store.Tx) error {
	var pages int
	if ok, err := tx.Meta(planMeta, &pages); err != nil || ok {
		return err // the existing plan ends in the same purge
	}
	return tx.PutMeta(planMeta, 0)
}

// PurgeSwept purges the files of what was erased in a transaction that called
// PlanSweep. The journal follows.
func (fg *Forgetting) PurgeSwept(ctx context.Context, lock *engine.Writer) error {
	fg.unfinished.Store(true)                     // if this fails, it is tried again in a quiet moment
	if err := fg.c.Flush(ctx, lock); err != nil { // rewrites the segments that contained it
		return err
	}
	if err := fg.c.Compact(ctx); err != nil {
		return err
	}
	asked := fg.plans.Add(1)
	fg.c.PurgeSoon(func(err error) { fg.FinishPurge(err, asked) })
	return nil
}

// ErrStopped: the journal was not purged, because the node stopped.
var ErrStopped = errors.New("stopped before the journal was purged; that is done at the next start")

// FinishPurge removes the plan once the journal is purged. asked is as for Done.
func (fg *Forgetting) FinishPurge(err error, asked int64) {
	if err == nil {
		err = fg.Done(context.Background(), asked)
	}
	if err != nil && !errors.Is(err, ErrStopped) {
		fg.c.Log.Error("what has to be forgotten is not erased yet: it will be tried again", "error", err)
	}
}

// ConfirmedPlans returns how many plans were confirmed.
func (fg *Forgetting) ConfirmedPlans() int64 { return fg.plans.Load() }

// Unfinished reports whether a plan is not carried out completely yet.
func (fg *Forgetting) Unfinished() bool { return fg.unfinished.Load() }

// CarriedOutPlans returns how many plans were carried out. The caller holds the engine's
// lock.
func (fg *Forgetting) CarriedOutPlans() uint64 { return fg.executed }

func (fg *Forgetting) readPlan(ctx context.Context) (todo Plan, ok bool, err error) {
	err = fg.c.Engine.View(ctx, func(tx *store.Tx) error {
		var pages int
		if ok, err = tx.Meta(planMeta, &pages); err != nil || !ok {
			return err
		}
		for i := range pages {
			var p Plan
			if _, err := tx.Meta(planPart+strconv.Itoa(i), &p); err != nil {
				return err
			}
			todo.Memories, todo.Utterances = append(todo.Memories, p.Memories...), append(todo.Utterances, p.Utterances...)
			todo.Events, todo.Quarantined = append(todo.Events, p.Events...), append(todo.Quarantined, p.Quarantined...)
			todo.Cascade, todo.Reason = todo.Cascade || p.Cascade, p.Reason
		}
		return nil
	})
	return todo, ok, err
}
