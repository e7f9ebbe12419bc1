package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/wait"
)

// Sync does one round. It does as much as it can, and returns an error for the
// rest.
func (r *Replica) Sync(ctx context.Context) (err error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	ctx, work := span.Start(ctx, "sync")
	defer func() { work.End(err) }()
	over := r.beginReport()
	err = r.doRound(ctx)
	over(err)
	return err
}

func (r *Replica) doRound(ctx context.Context) error {
	r.forks, r.deferred, r.tooLarge = 0, nil, 0
	r.retryIncomplete()
	if err := r.readLog(ctx); err != nil {
		return err
	}
	// If the relay refuses the next epoch, for example because the account is
	// full, the round goes on. Erasing something makes room again.
	renewed := r.rotateIfOld(ctx)
	if renewed != nil && !errors.Is(renewed, errNotTaken) {
		return renewed
	}
	exchanged := r.exchange(ctx)
	if renewed != nil || Failed(exchanged) {
		return errors.Join(renewed, exchanged)
	}
	st := r.st
	st.Synced = r.c.Now().UTC()
	if err := r.c.Journal.Save(ctx, st); err != nil {
		return err
	}
	r.setState(st)
	return exchanged
}

// exchange is a round after the log was read.
func (r *Replica) exchange(ctx context.Context) error {
	if !r.listRead {
		if err := r.readCheckpoints(ctx); err != nil {
			return err
		}
		if err := r.skipToSnapshot(ctx); err != nil {
			return err
		}
	}
	// If the relay serves something wrong, this member still sends.
	from := r.st.Cursor
	pulled := r.pull(ctx)
	r.listDue = r.listDue || r.wokenByRelay && from == r.st.Cursor // no delta came, so the wake-up was about checkpoints
	r.wokenByRelay = false
	if ctx.Err() != nil || errors.Is(pulled, ErrRolledBack) {
		return pulled
	}
	if err := errors.Join(pulled, r.push(ctx)); err != nil {
		return err
	}
	if err := r.forgetBodies(ctx); err != nil {
		return err
	}
	if err := r.announceLostBodies(ctx); err != nil {
		return err
	}
	if err := r.maintain(ctx); err != nil {
		return err
	}
	if err := r.maintainSnapshots(ctx); err != nil {
		return err
	}
	return r.deferredError()
}

// maxForget is the number of bodies in one request to forget.
const maxForget = 256

// forgetBodies tells the relay to remove the bodies that contain something erased.
func (r *Replica) forgetBodies(ctx context.Context) error {
	f, err := r.c.Journal.Removals(ctx)
	if err != nil || len(f.Bodies) == 0 {
		return err
	}
	if err := r.announceRemoved(ctx, f.Bodies); err != nil {
		return err
	}
	for refs := range slices.Chunk(f.Bodies, maxForget) {
		if err := r.c.Remote.Forget(ctx, refs); err != nil {
			return fmt.Errorf("forget at the relay: %w", err)
		}
	}
	clear(r.announced)
	return r.c.Journal.RecordRemovals(ctx, f)
}

// Notify tells the replica that there is something to send. It does not block.
func (r *Replica) Notify() {
	select {
	case r.notify <- struct{}{}:
	default:
	}
}

// Start begins a loop that syncs when there is something to send or to take.
// Stop ends it. A second Start does nothing.
func (r *Replica) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(r.life)
	before, done := r.done, make(chan struct{})
	r.stop, r.done = stop, done
	go func() {
		defer close(done)
		if before != nil { // the previous loop may still be running
			<-before
		}
		r.run(ctx)
	}()
}

// Running reports whether the replica was started and not stopped.
func (r *Replica) Running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop != nil
}

// Stop ends the loop of Start and waits for it. A second Stop waits, too.
func (r *Replica) Stop() {
	r.mu.Lock()
	stop, done := r.stop, r.done
	r.stop = nil
	r.mu.Unlock()
	if stop != nil {
		stop()
	}
	if done != nil {
		<-done
	}
}

// These are the delays after failures.
const (
	firstWait = time.Second
	longWait  = 5 * time.Minute
)

func (r *Replica) run(ctx context.Context) {
	if at, ok := r.c.Remote.(interface{ StopIdleStream() }); ok { // its listener may live longer than one wait
		defer at.StopIdleStream()
	}
	pace, gather := retry.Backoff{First: firstWait, Most: longWait}, batching{delay: r.c.BatchDelay}
	for ctx.Err() == nil {
		err := r.Sync(ctx)
		if err == nil {
			pace.Reset()
			r.listen(ctx, &gather, 0)
			continue
		}
		if errors.Is(err, ErrHeld) { // ops that come meanwhile can be sent
			r.listen(ctx, &gather, pace.Next())
			continue
		}
		if ctx.Err() == nil {
			r.c.Log.Warn("sync: will be tried again", "error", err)
		}
		pace.Wait(ctx)
	}
}

// batching decides how long an op waits for further ops. After a time without
// ops, an op is sent at once. Ops that follow it quickly are sent together.
type batching struct {
	delay time.Duration
	last  time.Time // when the last delta was sent or is due
}

// wait returns how long an op that came at now has to wait.
func (g *batching) wait(now time.Time) time.Duration {
	d := max(0, min(g.delay, g.last.Add(g.delay).Sub(now)))
	g.last = now.Add(d)
	return d
}

// listen returns when the replica may have something to do. If after is not 0,
// it returns after that time at the latest.
func (r *Replica) listen(ctx context.Context, gather *batching, after time.Duration) {
	r.round.Lock()
	high := r.st.high()
	lacks := r.c.SnapshotFallback != nil && len(r.st.MissingBodies) > 0
	r.round.Unlock()
	listening, stop := context.WithCancel(ctx)
	if lacks && (after == 0 || after > coverRetry) { // the envelope store can't tell that another place has got a snapshot
		after = coverRetry
	}
	if after > 0 {
		defer time.AfterFunc(after, stop).Stop()
	}
	defer stop()
	heard := make(chan error, 1)
	go func() { heard <- r.c.Remote.Wait(listening, high) }()
	select {
	case <-r.notify:
		stop()
		<-heard
		wait.For(ctx, gather.wait(time.Now()))
	case err := <-heard:
		r.round.Lock()
		r.wokenByRelay = true
		r.round.Unlock()
		if err != nil {
			wait.For(ctx, firstWait)
		}
	}
}
