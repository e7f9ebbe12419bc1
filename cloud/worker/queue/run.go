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

// Handler does one job. A nil error means that it is done. A [WaitError] makes the
// job wait and does not count as an attempt. A [ParkError] parks it. After any other
// error it is tried again later. The context ends when the worker stops or
// leaves the job's space; an interrupted job then waits again.
type Handler func(ctx context.Context, r *Running) error

// WaitError says that a job can't be done yet, for a reason outside the job.
type WaitError struct {
	After  time.Duration
	Reason string
}

func (w *WaitError) Error() string { return w.Reason }

// ParkError says that a person has to remove the cause first.
type ParkError struct{ Reason string }

func (p *ParkError) Error() string { return p.Reason }

// RetryError is an error with the time for which the service wants no requests.
type RetryError struct {
	Reason string
	After  time.Duration
}

func (a *RetryError) Error() string { return a.Reason }

// Running is a job that is being done. Afford and Book are safe for concurrent
// use.
type Running struct {
	Job
	q  *Queue
	mu sync.Mutex // guards Cost
}

// By records which engine does the job.
func (r *Running) By(engine string) { r.Engine = engine }

// Run does the jobs of the entered spaces until ctx is done. It may be called
// once. It returns an error of the database.
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
		err = errors.Join(err, q.endLeases(over))
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

// run is the client that does jobs, if any space was entered.
type run struct {
	q       *Queue
	do      Handler
	client  base.Client
	working map[memory.SpaceID]bool
}

// maintain adjusts the client to the spaces that were entered and left.
func (r *run) maintain(ctx context.Context) error {
	q := r.q
	if left := q.leaving(); len(left) > 0 {
		err := r.stop(ctx) // River's clients can't remove a queue
		for _, l := range left {
			l.done <- errors.Join(err, q.forget(context.WithoutCancel(ctx), l.space)) // the space is left even if the worker ends
		}
		if err != nil {
			return err
		}
	}
	want := q.entered() // after the spaces were left, so that they are not entered again
	if err := q.beat(ctx, want); err != nil && ctx.Err() == nil {
		q.o.Log.Warn("jobs: say that this worker is alive", "error", err)
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
			q.queues.Lock()
			err := r.client.Queues().Add(s.String(), river.QueueConfig{MaxWorkers: q.o.Parallel})
			q.queues.Unlock()
			if err != nil {
				return err
			}
			r.working[s] = true
		}
	}
	return nil
}

// patience is how long River may take to end once no job runs. Its clients (v0.31.0) may deadlock:
// the elector announces lost leadership while it holds a mutex, and the last listener needs that
// mutex to unsubscribe.
const patience = 15 * time.Second

// stop interrupts running jobs and waits for them. If a client does not end although no job runs,
// it is abandoned.
func (r *run) stop(ctx context.Context) error {
	if r.client == nil {
		return nil
	}
	c, q := r.client, r.q
	r.client = nil
	for {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.patience)
		err := c.StopAndCancel(within)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		q.mu.Lock()
		busy := len(q.doing) > 0
		q.mu.Unlock()
		if !busy {
			q.o.Log.Warn("jobs: the queue's client does not stop, and is abandoned")
			return nil
		}
	}
}

// use makes Add use the client that also runs the jobs, which then learns of
// new jobs at once.
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

// Enter makes this process do the jobs of a space.
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

// forever is a time after which River would act on its own, and that never
// comes. Done and parked jobs are kept, because a task is done only once.
// Leases, and not the age of a job, tell whether its worker is dead.
const forever = 100 * 365 * 24 * time.Hour

func (q *Queue) config(spaces map[memory.SpaceID]bool, do Handler) *river.Config {
	c := &river.Config{
		ID: q.name, Logger: quiet(q.o.Log), Queues: map[string]river.QueueConfig{}, Workers: river.NewWorkers(),
		JobTimeout: -1, RescueStuckJobsAfter: forever,
		CancelledJobRetentionPeriod: -1, CompletedJobRetentionPeriod: -1, DiscardedJobRetentionPeriod: -1,
		MaxAttempts: MaxAttempts, RetryPolicy: q, FetchCooldown: time.Millisecond,
	}
	if q.base.Shared {
		c.FetchPollInterval = 5 * time.Second // River announces new jobs, but not those that become due
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

// NextRetry tells River when to try again: after Pause, doubled with each
// failure, and not before the service accepts requests again.
func (q *Queue) NextRetry(row *rivertype.JobRow) time.Time {
	after := q.o.Pause << (max(row.Attempt, 1) - 1)
	if asked, ok := q.after.LoadAndDelete(row.ID); ok {
		after = max(after, asked.(time.Duration))
	}
	return time.Now().Add(after)
}

// work does one job and tells River the result.
func (q *Queue) work(ctx context.Context, j *river.Job[args], do Handler) error {
	q.mu.Lock()
	q.doing[j.ID] = true
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.doing, j.ID)
		q.mu.Unlock()
	}()
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
	var wait *WaitError
	var park *ParkError
	var again *RetryError
	var end error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		end = river.JobSnooze(0) // the worker stops, so this does not count as an attempt
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

// quiet passes on River's warnings, except those about failed jobs, which the
// worker logs itself.
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
