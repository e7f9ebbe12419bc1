package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/tiers"
)

// tidy does the housekeeping of quiet moments.
func (n *Node) tidy(ctx context.Context, o *session) {
	if o.index.Len()-int(o.flushedDocuments.Load()) >= flushAfter {
		if err := o.flush(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("the index could not be written", "error", err)
		}
	}
	if err := n.SaveHeard(ctx, o.engine.Commit, false); err != nil && ctx.Err() == nil {
		n.log.Warn("the times when wearables were heard could not be saved", "error", err)
	}
	o.memory.Maintain()
	pruned, err := o.voices.Prune(ctx, forget.PlanSweep)
	if err != nil && ctx.Err() == nil {
		n.log.Warn("prints of voices could not be deleted in time", "error", err)
	}
	if pruned || o.forgets.Unfinished() && time.Since(o.forgetRetryAt) >= retryEvery {
		o.forgetRetryAt = time.Now()
		asked := o.forgets.ConfirmedPlans()
		w, err := o.forgets.Resume(ctx)
		if err == nil {
			err = o.pump.Purge(ctx, w.Held)
		}
		o.forgets.FinishPurge(err, asked)
	}
	o.plugins.CatchUp(ctx)
	if time.Since(o.tiersAt) >= tiers.CoolEvery {
		o.tiersAt = time.Now()
		if err := o.tiers.Maintain(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("hot and cold memories could not be maintained", "error", err)
		}
		if err := o.store.MaintainCompaction(); err != nil {
			n.log.Error("the records could not be reopened", "error", err)
		}
	}
	if time.Since(o.dreamCheckAt) >= dream.LookEvery {
		o.dreamCheckAt = time.Now()
		if err := o.dreams.DreamIfDue(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("no dream", "error", err)
		}
	}
	if time.Since(o.retentionAt) >= forget.SweepEvery {
		o.retentionAt = time.Now()
		if err := o.applyRetention(ctx, forget.Earlier(o.latest(), o.retentionAt)); err != nil && ctx.Err() == nil {
			n.log.Warn("the rules of retention could not be applied", "error", err)
		}
	}
}

// latest is the time of the latest event, or zero if there was none.
func (o *session) latest() time.Time {
	lock := o.engine.AcquireWriter()
	defer lock.Release()
	return o.extract.Latest(lock)
}

// retryEvery is how often forgetting is tried again after a failure, such as a full
// disk.
const retryEvery = time.Minute

// applyRetention applies retention. If there is a pump, it runs in the pump's goroutine.
func (o *session) applyRetention(ctx context.Context, now time.Time) error {
	return o.forgets.Sweep(ctx, now, func(ctx context.Context) error {
		if o.pump == nil || o.stop == nil {
			return nil
		}
		return o.pump.Purge(ctx, nil)
	})
}

// purge removes from the journal everything that is processed. Then it removes the
// note that forgetting is under way. held are events that need not wait for more
// any longer.
func (n *Node) purge(ctx context.Context, held []memory.EventID) error {
	n.mu.RLock()
	o := n.open
	runs := o != nil && o.stop != nil
	done := make(chan error, 1)
	ask := func() {
		asked := o.forgets.ConfirmedPlans()
		o.pump.PurgeSoon(held, func(err error) {
			if err == nil {
				err = o.forgets.Done(context.WithoutCancel(ctx), asked)
			}
			done <- err
		})
	}
	if runs {
		ask()
		n.mu.RUnlock()
		select {
		case err := <-done:
			return err
		case <-ctx.Done(): // the purge goes on
			return ctx.Err()
		}
	}
	n.mu.RUnlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open == nil || n.running {
		return fmt.Errorf("%w: it was locked in the meantime", memory.ErrLocked)
	}
	o = n.open
	if err := n.startPump(o); err != nil {
		return err
	}
	ask()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	o.stop()
	err = errors.Join(err, <-o.done)
	o.stop = nil
	return err
}

// waitProcessed waits until every event taken so far is processed. If the node is locked
// or does not run, it returns at once.
func (n *Node) waitProcessed(ctx context.Context) error {
	n.mu.RLock()
	runs := n.running && n.open != nil
	n.mu.RUnlock()
	if !runs {
		return nil
	}
	return n.WaitIdle(ctx)
}

// WaitIdle waits until everything taken so far is processed.
func (n *Node) WaitIdle(ctx context.Context) error {
	last := n.journal.Stats().Last
	for {
		n.mu.RLock()
		done := n.open != nil && n.open.pump != nil && n.open.pump.HasProcessed(last)
		n.mu.RUnlock()
		if done {
			return nil
		}
		if !wait.For(ctx, 5*time.Millisecond) {
			return ctx.Err()
		}
	}
}
