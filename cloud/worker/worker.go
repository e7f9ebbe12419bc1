// Package worker is a member that extracts with heavy engines, where an owner
// let it in to a space as an extractor.
//
// The words, beside those of packages engine and queue:
//
//   - A request is the worker's public keys, which the owner grants; the
//     welcome is the owner's answer, by which the worker finds the space.
//   - A source is a recording that waits for a transcript, or a photo.
//   - An answer is what an engine made of a source: a transcript, the print, a
//     caption. It is looked through for secrets, which are taken out, and then
//     proposed as a memory of the lowest rank that cites the source's event.
//
// The worker keeps a replica of each space, sealed, and works on what is in it.
// It writes nothing to the vault, erases and pins nothing, and makes one memory
// of a source and engine. When it belongs no more, it destroys its keys and all
// that it had of the space.
package worker

import (
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

// Config of a worker. Only Home is needed.
type Config struct {
	Home    string
	Cache   string // folder for the machine code of extractors, nobody else's; empty: in Home
	Engines Engines
	Log     *slog.Logger // nil: nothing is logged

	DB       base.Opener // database that has the jobs, shared with workers that are set up alike; nil: SQLite in Home
	Parallel int         // jobs at a time; 0: 1
	Budget   queue.Cost  // of each space and day (UTC); zero fields: no limit
	Now      func() time.Time
}

// Worker runs until its context is done.
type Worker struct {
	c     Config
	lock  *filelock.Lock
	set   *set
	scan  *scanner
	queue *queue.Queue
	works []trade

	mu     sync.Mutex
	spaces map[memory.SpaceID]*space
}

// Open opens the home, which is made where it isn't there. One process has it
// open at a time.
func Open(ctx context.Context, c Config) (_ *Worker, err error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	w := &Worker{c: c, spaces: map[memory.SpaceID]*space{}}
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
	if err := sweep(c.Home); err != nil { // what another process is at work on was ruled out
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
	if c.Cache == "" {
		c.Cache = filepath.Join(c.Home, "cache")
	}
	if w.scan, err = newScanner(ctx, c.Cache); err != nil {
		return nil, err
	}
	if _, err := w.adopt(ctx); err != nil {
		return nil, err
	}
	if w.queue, err = queue.Open(ctx, jobsOf(c)); err != nil {
		return nil, err
	}
	if err := w.buried(ctx); err != nil {
		return nil, err
	}
	w.works = w.trades()
	for _, t := range w.works {
		if t.engine == "" {
			continue
		}
		if _, err := w.queue.RetryParked(ctx, t.kind, t.engine); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// jobsOf says where a worker's jobs are.
func jobsOf(c Config) queue.Options {
	return queue.Options{File: filepath.Join(c.Home, jobsFile), DB: c.DB, Parallel: c.Parallel, Budget: c.Budget, Now: c.Now, Log: c.Log}
}

// Jobs opens a worker's jobs beside it, to list, retry and discard them. Of c,
// only Home and DB are needed.
func Jobs(ctx context.Context, c Config) (*queue.Queue, error) { return queue.Beside(ctx, jobsOf(c)) }

// adopt opens the spaces that the worker was let in to and that are not open.
func (w *Worker) adopt(ctx context.Context) (fresh []*space, err error) {
	dirs, err := places(w.c.Home)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		j, err := readJoined(dir)
		if errors.Is(err, os.ErrNotExist) || err == nil && w.space(j.Space) != nil {
			continue
		}
		if err != nil {
			return fresh, err
		}
		if keyless(dir) {
			continue // it is on its way out
		}
		s, err := openSpace(ctx, dir, j, w.c.Log)
		if err != nil {
			return fresh, err
		}
		s.tell = func(ctx context.Context) (delta.Told, bool, error) { return w.of(ctx, s) }
		w.mu.Lock()
		w.spaces[j.Space] = s
		w.mu.Unlock()
		fresh = append(fresh, s)
	}
	return fresh, nil
}

// Close closes what Open opened. Run has returned.
func (w *Worker) Close() error {
	var errs []error
	for _, s := range w.spaces {
		errs = append(errs, s.close())
	}
	w.spaces = nil
	if w.scan != nil {
		errs = append(errs, w.scan.close(context.Background()))
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

// Found tells which engines there are.
func (w *Worker) Found() []Found {
	return slices.Clone(w.set.found)
}

// Queue gives the worker's jobs.
func (w *Worker) Queue() *queue.Queue { return w.queue }

// Spaces lists where the worker was let in.
func (w *Worker) Spaces() []Joined {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Joined
	for _, s := range w.spaces {
		out = append(out, s.joined)
	}
	return out
}

// Run follows the spaces and does jobs until ctx is done. It is called once.
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
			wait.For(ctx, lookEvery)
			w.nudge(ctx)
			fresh, err := w.adopt(ctx)
			if err != nil && ctx.Err() == nil {
				w.c.Log.Error("open a space", "error", err)
			}
			for _, s := range fresh {
				all.Go(func() { w.follow(ctx, s) })
			}
		}
	})
	return w.queue.Run(ctx, w.do)
}

// lookEvery is how soon a space that was joined is noticed.
const lookEvery = 2 * time.Second

// follow syncs one space, and adds what it asks for to the queue.
func (w *Worker) follow(ctx context.Context, s *space) {
	w.queue.Enter(s.joined.Space)
	err := s.follow(ctx, func() error { return w.look(ctx, s) })
	if errors.Is(err, replica.ErrRemoved) {
		if err := w.drop(s); err != nil {
			s.log.Error("the worker was removed from the space: destroy what it had", "error", err)
			return
		}
		s.log.Info(removedMessage)
	}
}

const removedMessage = "the worker was removed from the space: its keys and data are destroyed"

// look adds a job for each task that has none, and lets go of what rests on
// what is no more.
func (w *Worker) look(ctx context.Context, s *space) error {
	if err := s.sweep(ctx, w.now()); err != nil {
		return err
	}
	for _, t := range w.works {
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

// drop ends a space. The keys on the disk go first, whatever a job is at, and
// with them all that lies under them; then a job that runs on it is waited for,
// which was cut off, with what it has in memory and the programs that it began.
// A crash anywhere in between is gone on from at the next start, see [bury].
func (w *Worker) drop(s *space) error {
	s.end()
	err := destroy(s.dir)
	w.mu.Lock()
	delete(w.spaces, s.joined.Space)
	w.mu.Unlock()
	s.busy.Lock() // a job that was cut off has let go
	defer s.busy.Unlock()
	return errors.Join(err, s.close(), bury(context.Background(), w.queue, s.dir, s.joined.Space))
}

// buried ends the spaces that a crash left without keys.
func (w *Worker) buried(ctx context.Context) error {
	dirs, err := places(w.c.Home)
	for _, dir := range dirs {
		if err != nil {
			return err
		}
		var j Joined
		if j, err = readJoined(dir); errors.Is(err, os.ErrNotExist) {
			err = nil
			continue
		}
		if err == nil && keyless(dir) {
			err = bury(ctx, w.queue, dir, j.Space)
		}
	}
	return err
}

func (w *Worker) space(id memory.SpaceID) *space {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spaces[id]
}
