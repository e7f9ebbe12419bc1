// Package worker is a member that extracts memories with heavy engines. An
// owner has added it to a space as an extractor.
//
// These words are used beside those of packages engine and queue:
//
//   - A request is the worker's public keys, which the owner grants. The
//     welcome is the owner's answer. With it, the worker finds the space.
//   - A source is a recording that waits for a transcript, or a photo.
//   - An answer is an engine's result for a source: a transcript, the text in a
//     photo, or a caption. Secrets in it are found and removed. Then it is
//     proposed as a memory of the lowest rank that cites the source's event.
//
// The worker keeps a sealed replica of each space and works on its content. It
// writes nothing to the vault, erases and pins nothing, and makes one memory
// for each source and engine. When it is no longer a member, it destroys its
// keys and its whole copy of the space.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/cloud/worker/queue/base"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// Config configures a worker. Only Home is required.
type Config struct {
	Home    string
	Cache   string // private folder for the machine code of extractors; empty: in Home
	Engines Engines
	Log     *slog.Logger // nil: nothing is logged

	DB       base.Opener // database for the jobs, shared with workers that have the same configuration; nil: SQLite in Home
	Parallel int         // jobs at a time; 0: 1
	Budget   queue.Cost  // of each space and day (UTC); zero fields: no limit
	Now      func() time.Time
}

// Worker is a worker that was opened and may run.
type Worker struct {
	c     Config
	lock  *filelock.Lock
	set   *set
	scan  *scanner
	queue *queue.Queue
	kinds []workKind

	mu     sync.Mutex
	spaces map[memory.SpaceID]*space

	broken map[string]time.Time // when a folder whose space could not be opened is tried again
}

// Open opens the home, or makes it. Only one process may have it open.
func Open(ctx context.Context, c Config) (_ *Worker, err error) {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	w := &Worker{c: c, spaces: map[memory.SpaceID]*space{}, broken: map[string]time.Time{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open the worker's home: %w", err), w.Close())
		}
	}()
	if err := os.MkdirAll(c.Home, 0o700); err != nil {
		return nil, err
	}
	if w.lock, err = filelock.Take(filepath.Join(c.Home, "lock")); err != nil {
		return nil, err
	}
	if err := sweep(c.Home); err != nil { // no other process is using the home now
		return nil, err
	}
	if w.c.Engines.Dir == "" {
		w.c.Engines.Dir = filepath.Join(c.Home, "run")
	}
	if err := os.MkdirAll(w.c.Engines.Dir, 0o700); err != nil {
		return nil, err
	}
	if w.set, err = w.c.Engines.pick(ctx); err != nil {
		return nil, err
	}
	share := c.Cache != ""
	if !share {
		c.Cache = filepath.Join(c.Home, "cache")
	}
	if w.scan, err = newScanner(ctx, c.Cache, share); err != nil {
		return nil, err
	}
	if opened, err := w.openNewSpaces(ctx); err != nil {
		if len(opened) == 0 {
			return nil, err
		}
		c.Log.Error("open a space", "error", err)
	}
	if w.queue, err = queue.Open(ctx, jobsOf(c)); err != nil {
		return nil, err
	}
	if err := w.finishRemovals(ctx); err != nil {
		return nil, err
	}
	w.kinds = w.workKinds()
	for _, t := range w.kinds {
		if t.engine == "" {
			continue
		}
		if _, err := w.queue.RetryParked(ctx, t.kind, t.engine); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// jobsOf returns the options of a worker's queue.
func jobsOf(c Config) queue.Options {
	return queue.Options{File: filepath.Join(c.Home, jobsFile), DB: c.DB, Parallel: c.Parallel, Budget: c.Budget, Now: c.Now, Log: c.Log}
}

// Jobs opens a worker's jobs while the worker may be running, to list, retry
// and discard them. Of c, only Home and DB are used.
func Jobs(ctx context.Context, c Config) (*queue.Queue, error) {
	return queue.OpenBeside(ctx, jobsOf(c))
}

// openNewSpaces opens the spaces that the worker belongs to and that are not open yet. One that
// can't be opened stops no other, and is tried again after a while.
func (w *Worker) openNewSpaces(ctx context.Context) (fresh []*space, err error) {
	dirs, err := places(w.c.Home)
	errs := []error{err}
	for _, dir := range dirs {
		j, err := readJoined(dir)
		if errors.Is(err, os.ErrNotExist) || err == nil && w.space(j.Space) != nil || time.Now().Before(w.broken[dir]) {
			continue
		}
		var s *space
		if err == nil {
			if keyless(dir) {
				continue // it is being removed
			}
			s, err = openSpace(ctx, dir, j, w.now, w.c.Log)
		}
		if err != nil {
			w.broken[dir] = time.Now().Add(longWait)
			errs = append(errs, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		s.reportContent = func(ctx context.Context) (delta.ReportContent, bool, error) { return w.of(ctx, s) }
		w.mu.Lock()
		w.spaces[j.Space] = s
		w.mu.Unlock()
		fresh = append(fresh, s)
	}
	return fresh, errors.Join(errs...)
}

// Close closes what Open opened. It must be called after Run has returned.
func (w *Worker) Close() error {
	var errs []error
	for _, s := range w.spaces {
		errs = append(errs, s.close())
	}
	w.spaces = nil
	if w.scan != nil {
		errs = append(errs, w.scan.host.Close(context.Background()))
		w.scan = nil
	}
	if w.queue != nil {
		errs = append(errs, w.queue.Close())
		w.queue = nil
	}
	if w.lock != nil {
		errs = append(errs, w.lock.Release())
		w.lock = nil
	}
	return errors.Join(errs...)
}

// EngineStates returns which engines are available.
func (w *Worker) EngineStates() []EngineState {
	return slices.Clone(w.set.found)
}

// Queue returns the worker's jobs.
func (w *Worker) Queue() *queue.Queue { return w.queue }

// Spaces lists the spaces that the worker belongs to.
func (w *Worker) Spaces() []Joined {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Joined
	for _, s := range w.spaces {
		out = append(out, s.joined)
	}
	return out
}

// Run follows the spaces and does jobs until ctx is done. It may be called
// once.
func (w *Worker) Run(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.mu.Lock()
	for _, s := range w.spaces {
		all.Go(func() { w.follow(ctx, s) })
	}
	w.mu.Unlock()
	all.Go(func() {
		for ctx.Err() == nil {
			wait.For(ctx, jobSearchEvery)
			w.syncForReport(ctx)
			fresh, err := w.openNewSpaces(ctx)
			if err != nil && ctx.Err() == nil {
				w.c.Log.Error("open a space", "error", err)
			}
			for _, s := range fresh {
				all.Go(func() { w.follow(ctx, s) })
			}
		}
	})
	return w.queue.Run(ctx, w.runJob)
}

// jobSearchEvery is how often the worker looks for newly joined spaces.
const jobSearchEvery = 2 * time.Second

// follow syncs one space and adds its tasks to the queue.
func (w *Worker) follow(ctx context.Context, s *space) {
	w.queue.Enter(s.joined.Space)
	err := s.follow(ctx, func() error { return w.addJobs(ctx, s) })
	if errors.Is(err, replica.ErrRemoved) {
		if err := w.leaveSpace(s); err != nil {
			s.log.Error("the worker was removed from the space: destroy what it had", "error", err)
			return
		}
		s.log.Info(removedMessage)
	}
}

const removedMessage = "the worker was removed from the space: its keys and data are destroyed"

// addJobs adds a job for each task that has none, and deletes what depends on
// something that no longer exists.
func (w *Worker) addJobs(ctx context.Context, s *space) error {
	if err := s.sweep(ctx, w.now()); err != nil {
		return err
	}
	for _, t := range w.kinds {
		tasks, err := t.tasks(ctx, s)
		if err == nil {
			_, err = w.queue.Add(ctx, tasks...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveSpace ends a space. It first destroys the keys on the disk, whatever the jobs
// are doing, so that the data on the disk can't be read any more. Then it
// interrupts the space's running job and waits for it, because the job has data
// in memory and may have started programs. If there is a crash in between, the
// next start continues: see [removeSpace].
func (w *Worker) leaveSpace(s *space) error {
	s.end()
	err := destroy(s.dir)
	w.mu.Lock()
	delete(w.spaces, s.joined.Space)
	w.mu.Unlock()
	s.busy.Lock() // an interrupted job has released it
	defer s.busy.Unlock()
	return errors.Join(err, s.close(), removeSpace(context.Background(), w.queue, s.dir, s.joined.Space))
}

// finishRemovals completes the removal of spaces that a crash left without keys.
func (w *Worker) finishRemovals(ctx context.Context) error {
	dirs, err := places(w.c.Home)
	for _, dir := range dirs {
		if j, broken := readJoined(dir); broken == nil && keyless(dir) {
			err = errors.Join(err, removeSpace(ctx, w.queue, dir, j.Space))
		}
	}
	return err
}

func (w *Worker) space(id memory.SpaceID) *space {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spaces[id]
}
