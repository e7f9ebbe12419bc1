package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
)

// Host is the node that a queue works for.
type Host interface {
	// View reads the records.
	View(ctx context.Context, fn func(*store.Tx) error) error
	// Commit changes the records.
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	// StoreAnswer stores what an engine made of a source or a series, and that none of its sources
	// waits any more, in one transaction. The error is memory.ErrNotFound if a source is gone or
	// no longer waits.
	StoreAnswer(ctx context.Context, a *result.Answer, sources ...memory.ID) error
}

// Queue passes sources that wait for one engine to it, the oldest first. A model that sees gets
// photos as series, see [Queue.nextSeries]. Its methods are safe for concurrent use.
type Queue struct {
	spec    Spec
	host    Host
	process *Process
	live    *Live // nil: the engine hears no utterance while it is spoken
	log     *slog.Logger
	now     func() time.Time
	wake    chan struct{}

	mu      sync.Mutex
	offered []memory.ID // these may wait, but were not checked yet
	items   []item      // sources that wait, the oldest first
	held    int         // how many are near a secret, by the last scan
	absent  int         // how many have no file here, by the last scan
	trouble string      // why the queue stopped; empty: it did not
	retry   time.Time   // when it continues
	done    int         // number of sources since the start
}

// item is a source that waits.
type item struct {
	id         memory.ID
	start, end time.Time
	after      time.Time // not tried before this time; zero: now
	tries      int       // number of failed attempts
	hash       string    // for a photo
	learnt     time.Time // when it came
	alone      bool      // a photo that is not shown together with others, because the engine failed on its series
}

// NewQueue makes a Queue that does nothing yet.
func NewQueue(s Spec, h Host, p *Process, log *slog.Logger, now func() time.Time) *Queue {
	return &Queue{spec: s, host: h, process: p, log: log.With("engine", s.Name()), now: now, wake: make(chan struct{}, 1)}
}

// SetLive makes the queue use words that were heard while they were spoken. It is called before
// Run, or not at all.
func (q *Queue) SetLive(l *Live) { q.live = l }

// Settings of a queue's pace.
const (
	firstRest = time.Second // after a failure, doubled each time up to the next
	longRest  = 5 * time.Minute
	scanEvery = 10 * time.Minute // finds what was added in another way, such as by sync
	maxTries  = 3                // attempts with one source before it is parked
)

// Offer tells the queue that these memories are new or changed.
func (q *Queue) Offer(ids ...memory.ID) {
	q.mu.Lock()
	q.offered = append(q.offered, ids...)
	q.mu.Unlock()
	q.Wake()
}

// Wake makes the queue check again what it may do now.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends.
func (q *Queue) Run(ctx context.Context) {
	pace := retry.Backoff{First: firstRest, Most: longRest}
	var scanned time.Time
	for ctx.Err() == nil {
		rest := scanEvery
		var err error
		if now := time.Now(); scanned.IsZero() || now.Sub(scanned) >= scanEvery {
			if err = q.scan(ctx); err == nil {
				scanned = now
			}
		}
		if err == nil {
			err = q.look(ctx)
		}
		if err == nil {
			var its []item
			if its, rest = q.next(); its != nil {
				if err = q.once(ctx, its); err == nil {
					pace.Reset()
					continue
				}
			}
		}
		if err != nil && ctx.Err() == nil {
			rest = pace.Next()
			if f, ok := errors.AsType[*engine.Fault](err); ok {
				rest = max(rest, f.After)
			}
			q.log.Warn("sources wait for an engine", "error", err)
			q.setTrouble(err.Error(), rest)
			if !wait(ctx, nil, rest) {
				return
			}
			continue
		}
		if !wait(ctx, q.wake, rest) {
			return
		}
	}
}

// wait waits for a time or for wake, and reports whether ctx is still alive.
func wait(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	case <-wake:
	}
	return true
}

// setTrouble records why the queue stopped, and for how long.
func (q *Queue) setTrouble(trouble string, rest time.Duration) {
	q.mu.Lock()
	q.trouble, q.retry = trouble, q.now().Add(rest)
	q.mu.Unlock()
}

// scan finds everything in the records that waits.
func (q *Queue) scan(ctx context.Context) error {
	var ids []memory.ID
	err := q.host.View(ctx, func(tx *store.Tx) (err error) {
		ids, err = Waiting(tx, q.spec.Work())
		return err
	})
	if err != nil {
		return fmt.Errorf("look for what waits: %w", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held, q.absent = 0, 0
	q.offered = append(q.offered, ids...)
	return nil
}

// look adds offered memories that wait to the queue.
func (q *Queue) look(ctx context.Context) error {
	q.mu.Lock()
	offered := q.offered
	q.mu.Unlock()
	if len(offered) == 0 {
		return nil
	}
	var fresh []item
	err := q.host.View(ctx, func(tx *store.Tx) error {
		parked, err := parkedOf(tx, q.spec.Work())
		if err != nil {
			return err
		}
		fresh = nil
		for m, err := range tx.MemoriesOf(offered) {
			if err != nil {
				return err
			}
			if _, given := parked[m.ID.String()]; given || !Waits(m, q.spec.Work()) {
				continue
			}
			it := item{id: m.ID, start: result.StartOf(m), end: result.StartOf(m), hash: m.Fields.Resource.Hash, learnt: m.Learnt}
			if m.TrueTo.After(it.end) {
				it.end = m.TrueTo
			}
			fresh = append(fresh, it)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at what waits: %w", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.offered = q.offered[len(offered):]
	for _, it := range fresh {
		if slices.ContainsFunc(q.items, func(o item) bool { return o.id == it.id }) {
			continue
		}
		i, _ := slices.BinarySearchFunc(q.items, it, func(a, b item) int {
			return cmp.Or(a.start.Compare(b.start), slices.Compare(a.id[:], b.id[:]))
		})
		q.items = slices.Insert(q.items, i, it)
	}
	return nil
}

// next returns the oldest source that may be tried now, or a series, or how long to wait for
// one. A recording that was heard while it was spoken comes first. One that is still being heard
// has to wait.
func (q *Queue) next() ([]item, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.spec.Work() == result.Caption {
		return q.nextSeries()
	}
	var hearing []memory.ID
	if q.live != nil {
		for _, it := range q.items {
			words, pending := q.live.words(it.id)
			if words != nil {
				return []item{it}, 0
			}
			if pending {
				hearing = append(hearing, it.id)
			}
		}
	}
	now, rest := q.now(), scanEvery
	for _, it := range q.items {
		if slices.Contains(hearing, it.id) {
			continue
		}
		left := q.ready(&it).Sub(now)
		if left <= 0 {
			return []item{it}, 0
		}
		rest = min(rest, left)
	}
	return nil, rest
}

// ready returns when a source may be tried. An engine on another machine gets it only when
// everything that was said around it is known.
func (q *Queue) ready(it *item) time.Time {
	around := extract.HeldAround
	if q.spec.Work() != result.Transcribe {
		around += extract.LongestHeard // speech during a photo may not be cut into utterances yet
	}
	if settled := it.end.Add(around); !q.spec.Local() && settled.After(it.after) {
		return settled
	}
	return it.after
}

// drop removes a source from the queue.
func (q *Queue) drop(id memory.ID) {
	q.items = slices.DeleteFunc(q.items, func(o item) bool { return o.id == id })
}

// item returns a source of the queue, or nil.
func (q *Queue) item(id memory.ID) *item {
	if i := slices.IndexFunc(q.items, func(o item) bool { return o.id == id }); i >= 0 {
		return &q.items[i]
	}
	return nil
}

// State is the state of a queue.
type State struct {
	Held    int       // sources that are near a secret, and stay here
	Absent  int       // sources whose file is not on this device
	Done    int       // since the start
	Trouble string    // why the others wait
	Retry   time.Time // when they are tried again; zero if nothing is wrong
}

// State returns the queue's state.
func (q *Queue) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	return State{Held: q.held, Absent: q.absent, Done: q.done, Trouble: q.trouble, Retry: q.retry}
}
