package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/locket-dev/locket/cloud/worker/queue/base"
	"github.com/locket-dev/locket/memory"
)

// Handler does one job. Nil is done. A [Wait] has it wait as if it had not been
// tried, a [Park] parks it, and after any other error it is tried again later.
// Its context ends when the worker stops or leaves the job's space; a job that
// was cut off so is waiting again.
type Handler func(ctx context.Context, r *Running) error

// Wait says that a job can't be done yet, for a reason that is not the job's.
type Wait struct {
	After  time.Duration
	Reason string
}

func (w *Wait) Error() string { return w.Reason }

// Park says that somebody has to do something about the reason first.
type Park struct{ Reason string }

func (p *Park) Error() string { return p.Reason }

// Again is a failure with the time that whoever failed asks to be left alone.
type Again struct {
	Reason string
	After  time.Duration
}

func (a *Again) Error() string { return a.Reason }

// Running is a job while it is done. Afford and Book are safe for concurrent use.
type Running struct {
	Job
	q  *Queue
	mu sync.Mutex // of Cost
}

// By notes which engine does the job.
func (r *Running) By(engine string) { r.Engine = engine }

// Run does the jobs of the spaces that were entered, until ctx is done. It is
// called once. An error is the database's.
func (q *Queue) Run(ctx context.Context, do Handler) (err error) {
	q.mu.Lock()
	q.running = true
	q.mu.Unlock()
	r := run{q: q, do: do}
	defer func() {
		over := context.WithoutCancel(ctx)
		err = errors.Join(err, r.stop(over))
		q.mu.Lock()
		q.running = false
		q.mu.Unlock()
		for _, l := range q.leaving() {
			l.done <- q.forget(over, l.space)
		}
		err = errors.Join(err, q.bye(over))
	}()
	beat := time.NewTicker(q.o.Lease / 4)
	defer beat.Stop()
	for {
		if err := r.maintain(ctx); err != nil {
			return fmt.Errorf("do jobs: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-q.changed:
		case <-beat.C:
		}
	}
}

// run is the client that does jobs, if there is a space to do any in.
type run struct {
	q       *Queue
	do      Handler
	client  base.Client
	working map[memory.SpaceID]bool
}

// maintain brings the client to the spaces that were entered and left.
func (r *run) maintain(ctx context.Context) error {
	q := r.q
	want := q.entered()
	if err := q.beat(ctx, want); err != nil && ctx.Err() == nil {
		q.o.Log.Warn("jobs: say that this worker is alive", "error", err)
	}
	if left := q.leaving(); len(left) > 0 {
		err := r.stop(ctx) // River's clients can't let go of a queue
		for _, l := range left {
			l.done <- errors.Join(err, q.forget(ctx, l.space))
		}
		if err != nil {
			return err
		}
	}
	if len(want) == 0 || ctx.Err() != nil {
		return nil
	}
	if r.client == nil {
		c, err := q.base.Client(q.config(want, r.do))
		if err != nil {
			return err
		}
		if err := c.Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		r.client, r.working = c, want
		q.use(c)
		return nil
	}
	for s := range want {
		if !r.working[s] {
			if err := r.client.Queues().Add(s.String(), river.QueueConfig{MaxWorkers: q.o.Parallel}); err != nil {
				return err
			}
			r.working[s] = true
		}
	}
	return nil
}

// stop cuts off what runs, and waits for it.
func (r *run) stop(ctx context.Context) error {
	if r.client == nil {
		return nil
	}
	c := r.client
	r.client = nil
	return c.StopAndCancel(context.WithoutCancel(ctx))
}

// use has jobs added by the client that does them, which then needs not look.
func (q *Queue) use(c base.Client) {
	q.mu.Lock()
	q.client = c
	q.mu.Unlock()
}

func (q *Queue) entered() map[memory.SpaceID]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := map[memory.SpaceID]bool{}
	for s := range q.spaces {
		out[s] = true
	}
	return out
}

// Enter has the jobs of a space done here.
func (q *Queue) Enter(space memory.SpaceID) {
	q.mu.Lock()
	q.spaces[space] = true
	q.mu.Unlock()
	q.wake()
}

func (q *Queue) wake() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// forever stands for a time that River is not to act on: what is done and
// parked is kept, since a task is done once, and whether a running job was
// given up is told by leases and not by its age.
const forever = 100 * 365 * 24 * time.Hour

func (q *Queue) config(spaces map[memory.SpaceID]bool, do Handler) *river.Config {
	c := &river.Config{
		ID: q.name, Logger: quiet(q.o.Log), Queues: map[string]river.QueueConfig{}, Workers: river.NewWorkers(),
		JobTimeout: -1, RescueStuckJobsAfter: forever,
		CancelledJobRetentionPeriod: -1, CompletedJobRetentionPeriod: -1, DiscardedJobRetentionPeriod: -1,
		MaxAttempts: MaxAttempts, RetryPolicy: q, FetchCooldown: time.Millisecond,
	}
	if q.base.Shared {
		c.FetchPollInterval = 5 * time.Second // it tells of new jobs, but not of those whose time has come
		c.FetchCooldown = 10 * time.Millisecond
	}
	if q.o.Look > 0 {
		c.FetchPollInterval = q.o.Look
	}
	for s := range spaces {
		c.Queues[s.String()] = river.QueueConfig{MaxWorkers: q.o.Parallel}
	}
	w := river.WorkFunc(func(ctx context.Context, j *river.Job[args]) error { return q.work(ctx, j, do) })
	for _, k := range kinds {
		river.AddWorkerArgs(c.Workers, args{kind: k}, w)
	}
	return c
}

// NextRetry is River's question when to try again: after Pause, doubled with
// each failure, and not before whoever failed wants it.
func (q *Queue) NextRetry(row *rivertype.JobRow) time.Time {
	after := q.o.Pause << (max(row.Attempt, 1) - 1)
	if asked, ok := q.after.LoadAndDelete(row.ID); ok {
		after = max(after, asked.(time.Duration))
	}
	return time.Now().Add(after)
}

// work has one job done, and tells River how it ended.
func (q *Queue) work(ctx context.Context, j *river.Job[args], do Handler) error {
	select {
	case q.turns <- struct{}{}:
		defer func() { <-q.turns }()
	case <-ctx.Done():
		return river.JobSnooze(0)
	}
	r := &Running{Job: jobOf(j.JobRow), q: q}
	r.Reason = ""
	err := do(ctx, r)
	out := outcome{Engine: r.Engine, Cost: r.Cost}
	var wait *Wait
	var park *Park
	var again *Again
	var end error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		end = river.JobSnooze(0) // we stop: as if it had not been taken
	case errors.As(err, &wait):
		out.Reason = wait.Reason
		end = river.JobSnooze(max(wait.After, 0))
	case errors.As(err, &park):
		end = river.JobCancel(park)
	case errors.As(err, &again):
		q.after.Store(j.ID, again.After)
		end = again
	default:
		end = err
	}
	if err := river.RecordOutput(ctx, out); err != nil {
		return errors.Join(end, err)
	}
	return end
}

// quiet passes on River's warnings, but for those of failed jobs, which the
// worker tells in its own words.
func quiet(to *slog.Logger) *slog.Logger { return slog.New(quietHandler{to.Handler()}) }

type quietHandler struct{ slog.Handler }

func (h quietHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "jobexecutor.") && strings.Contains(r.Message, "Job errored") {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h quietHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(a)}
}
func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}
