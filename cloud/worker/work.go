package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/wasm/abi"
)

// notReady is how soon a job is tried again if its space has not been synced
// since the start. Until then the keys of the space's epochs are missing.
const notReady = time.Second

// workKind is a kind of work that the worker can do.
type workKind struct {
	kind   queue.Kind
	engine string // the engine that does it; empty: none, and jobs are parked with need
	need   string
	to     string // host to which the input is sent; empty: it stays on this machine
	// tasks returns all tasks of this kind in a space, done or not.
	tasks func(context.Context, *space) ([]queue.Task, error)
	// reads returns the ids of what a job reads, if that is not the subject
	// itself. No ids mean that nothing of it exists any more. If reads is nil,
	// the job reads its subject.
	reads    func(ctx context.Context, s *space, subject string) ([]memory.ID, error)
	readsAll bool // rules first go over everything on this machine; what a model is shown is recorded later
	// do does one job. If it runs again, its assertions have the same ids. It
	// returns errors of engines (*engine.Fault), errors of the queue, or other
	// errors, after which the job is tried again.
	do func(context.Context, *space, *queue.Running) error
}

// workKinds returns everything that this worker can do.
func (w *Worker) workKinds() []workKind {
	return slices.Concat(w.mediaKinds(), w.languageKinds(), w.mindKinds())
}

// runJob does one job and returns how it ended.
func (w *Worker) runJob(ctx context.Context, r *queue.Running) error {
	i := slices.IndexFunc(w.kinds, func(t workKind) bool { return t.kind == r.Kind })
	if i < 0 {
		return &queue.ParkError{Reason: "this worker doesn't know such work"}
	}
	t := w.kinds[i]
	if t.engine == "" {
		return &queue.ParkError{Reason: t.need}
	}
	s := w.space(r.Space)
	if s == nil {
		return &queue.WaitError{After: notReady, Reason: "the worker is not in the space"}
	}
	if !s.ready.Load() {
		return &queue.WaitError{After: notReady, Reason: "the space was not synced since the worker's start"}
	}
	r.By(t.engine)
	err := w.runOnSpace(ctx, s, t, r)
	s.worked.Store(true)
	if err == nil || ctx.Err() != nil || s.memberCtx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	var f *engine.Fault
	var wait *queue.WaitError
	log := w.c.Log.With("kind", r.Kind, "subject", r.Subject, "error", err)
	switch {
	case errors.As(err, &wait):
		log.Info("job: waits")
		return err
	case errors.As(err, &f) && !f.Temporary(), errors.Is(err, errNotGranted), errors.Is(err, memory.ErrInvalid), errors.As(err, new(*abi.Error)):
		log.Warn("job: parked")
		return &queue.ParkError{Reason: err.Error()}
	case f != nil:
		log.Warn("job: will be tried again")
		return &queue.RetryError{Reason: err.Error(), After: f.After}
	default:
		log.Warn("job: will be tried again")
		return &queue.RetryError{Reason: engine.Clip(err.Error())}
	}
}

// runOnSpace runs a job on a space that must not be closed meanwhile. It interrupts
// the job when the worker is no longer a member.
func (w *Worker) runOnSpace(ctx context.Context, s *space, t workKind, r *queue.Running) error {
	s.busy.RLock()
	defer s.busy.RUnlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.memberCtx, cancel)()
	if err := s.memberCtx.Err(); err != nil {
		return err
	}
	if absent, err := w.absent(ctx, s, r); err != nil {
		return err
	} else if absent {
		return &queue.WaitError{After: absentRetry, Reason: "what it is about has not come to this worker yet"}
	}
	var of []memory.ID
	if t.reads != nil {
		var err error
		if of, err = t.reads(ctx, s, r.Subject); err != nil || len(of) == 0 {
			return err // the subject was forgotten: there is nothing to read or do
		}
	}
	to := t.to
	if t.readsAll {
		r.By(byRules)
		to = ""
	}
	err := w.recordRead(ctx, s, r, to, of...)
	r.By(t.engine)
	if err != nil {
		return err
	}
	return t.do(ctx, s, r)
}

// recordRead records what a job is about to read, for the report to the owner: the
// given ids, or the job's subject if there are none.
func (w *Worker) recordRead(ctx context.Context, s *space, r *queue.Running, to string, of ...memory.ID) error {
	at := w.now().UTC().Truncate(time.Millisecond)
	if len(of) == 0 {
		return s.noteRead(ctx, delta.Read{At: at, Kind: string(r.Kind), Subject: r.Subject, Engine: r.Engine, To: to})
	}
	for part := range slices.Chunk(of, delta.MaxOf) {
		read := delta.Read{At: at, Kind: string(r.Kind), Subject: r.Subject, Engine: r.Engine, To: to}
		for _, id := range part {
			read.Of = append(read.Of, id.String())
		}
		if err := s.noteRead(ctx, read); err != nil {
			return err
		}
	}
	return nil
}

var errNotGranted = errors.New("the grant doesn't allow it")
