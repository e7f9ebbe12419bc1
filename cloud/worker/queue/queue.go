// Package queue keeps a worker's jobs: what is to be done, what was done, and
// what could not be, with the reason. It is River's, on SQLite in the worker's
// home, or on a PostgreSQL that several workers share.
//
// The words:
//
//   - A [Task] is one kind of work on one subject of one space, by one version
//     of whoever does such work. It is added once, however often it is asked
//     for, and whoever asks.
//   - A [Job] is a task with its state. It is done by one worker at a time, and
//     ends as done, parked or discarded. Between, it may be put off.
//   - A job that was running when its worker died is waiting again: on SQLite
//     when the queue is opened, on PostgreSQL as soon as the worker's lease has
//     ended (see leases.go). After [MaxAttempts] such ends it is parked: it may
//     be what kills the worker.
//   - A budget is what one space may cost in a day (UTC). A job that would
//     cost waits for tomorrow once it is spent, and says so.
//
// A job may be done twice all the same: by a worker that was cut off from the
// database and by the next one. What comes of a job has to be the same then;
// that is for its handler.
//
// The database holds ids, engines' names, times, costs and reasons, and nothing
// of what was said or seen. A space that ends is overwritten in SQLite, and
// deleted in PostgreSQL once no worker that is alive is in it.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/locket-dev/locket/cloud/worker/queue/base"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
)

// Kind is what is to be done. Those about sources have their results' names.
type Kind = result.Kind

// The kinds of sound and pictures.
const (
	Transcribe      = result.Transcribe // a recording
	Read            = result.Read       // the print of a photo
	Caption         = result.Caption    // what a photo shows
	Sequence        = result.Sequence   // what photos show that were taken one after another
	Question   Kind = "question"        // that somebody has about a photo
)

// The kinds of words.
const (
	Language Kind = "language" // memories in what was said
	Summary  Kind = "summary"  // of a conversation, for what is said in it later
	Graph    Kind = "graph"    // names that are one, and communities
	Dream    Kind = "dream"    // memories that say one thing
)

// Kinds are all that there are: a job of another is refused.
var kinds = []Kind{Transcribe, Read, Caption, Sequence, Question, Language, Summary, Graph, Dream}

// Priority says what goes first within a space, from 1 (first) to 4.
type Priority int

// The priorities. Zero is Soon.
const (
	First  Priority = 1 // somebody waits for it
	Soon   Priority = 2
	Later  Priority = 3 // nice to have
	Seldom Priority = 4 // housekeeping
)

// MaxAttempts is how often a job is tried.
const MaxAttempts = 5

// Task is what is to be done.
type Task struct {
	Space    memory.SpaceID
	Kind     Kind
	Subject  string // a memory's id or another opaque name, of 1 to 100 bytes
	Version  string // of who does such work, up to 100 bytes: another one is another task
	Priority Priority
}

// Options of a queue: File, or DB.
type Options struct {
	File string      // SQLite
	DB   base.Opener // a database that workers share

	Parallel int           // jobs at a time in this process; 0: 1
	Budget   Cost          // of each space and day; zero fields: no limit
	Pause    time.Duration // before the second attempt, doubled with each further one; 0: 10 s
	Lease    time.Duration // after which a worker that says nothing is dead; 0: 45 s. Of no use on SQLite
	Look     time.Duration // how often jobs are looked for that nobody tells of; 0: 1 s on SQLite, 5 s on PostgreSQL
	Now      func() time.Time
	Log      *slog.Logger // nil: nothing is logged
}

// Errors of a queue.
var (
	ErrNoJob   = errors.New("there is no such job")
	ErrRunning = errors.New("the job is running")
)

// Queue is open until Close. Its methods are safe for concurrent use.
type Queue struct {
	o     Options
	name  string // of this worker, for leases
	page  int    // how many jobs are listed at a time
	base  *base.Base
	turns chan struct{} // one for each job that may run at a time

	mu      sync.Mutex
	client  base.Client // of those that run, or one that only adds and lists
	spaces  map[memory.SpaceID]bool
	known   map[memory.SpaceID]map[Task]bool // that were added, or found there
	running bool                             // Run is at work
	leaves  []leave
	changed chan struct{}
	after   sync.Map // job → how long its engine asks to be left alone
}

// Open opens the queue, or makes it. On SQLite one process has it open at a
// time: what it finds running, it takes for broken off.
func Open(ctx context.Context, o Options) (*Queue, error) {
	q, err := open(o, false)
	if err != nil {
		return nil, err
	}
	err = q.base.Locked(ctx, func() error { return q.base.Migrate(ctx) })
	if err == nil && !q.base.Shared {
		// The leader was this process's predecessor: nobody waits for its term to end.
		_, err = q.base.DB.ExecContext(ctx, `DELETE FROM river_leader`)
	}
	if err == nil && !q.base.Shared {
		err = q.rescue(ctx, nil)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the job queue: %w", err), q.Close())
	}
	return q, nil
}

// Beside opens a queue that is there to list, retry and discard, beside the
// workers that have it open.
func Beside(_ context.Context, o Options) (*Queue, error) { return open(o, true) }

func open(o Options, mustExist bool) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Pause <= 0 {
		o.Pause = 10 * time.Second
	}
	if o.Lease <= 0 {
		o.Lease = 45 * time.Second
	}
	o.Parallel = max(o.Parallel, 1)
	q := &Queue{o: o, name: newName(), page: 500, turns: make(chan struct{}, o.Parallel), spaces: map[memory.SpaceID]bool{},
		known: map[memory.SpaceID]map[Task]bool{}, changed: make(chan struct{}, 1)}
	var err error
	if o.DB != nil {
		q.base, err = o.DB()
	} else {
		q.base, err = openSQLite(o.File, mustExist)
	}
	if err != nil {
		return nil, fmt.Errorf("open the job queue: %w", err)
	}
	if q.client, err = q.base.Client(&river.Config{Logger: quiet(o.Log)}); err != nil {
		return nil, errors.Join(fmt.Errorf("open the job queue: %w", err), q.base.Close())
	}
	return q, nil
}

// Close closes the database. Run has returned.
func (q *Queue) Close() error { return q.base.Close() }

// args is a task as River keeps it; the space is the queue.
type args struct {
	kind    Kind
	Space   memory.SpaceID `json:"space" river:"unique"`
	Subject string         `json:"subject" river:"unique"`
	Version string         `json:"version" river:"unique"`
}

// Kind is how River knows the kind.
func (a args) Kind() string { return string(a.kind) }

// everyState: a task is added once, whatever became of it.
var everyState = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStateCancelled, rivertype.JobStateCompleted, rivertype.JobStateDiscarded,
	rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}

// Add puts tasks in, except for those that are there in any state, and tells
// how many were new.
func (q *Queue) Add(ctx context.Context, tasks ...Task) (added int, err error) {
	var list []river.InsertManyParams
	var fresh []Task
	q.mu.Lock()
	c := q.client
	for _, t := range tasks {
		key := t
		key.Priority = 0
		if !q.known[t.Space][key] {
			fresh = append(fresh, key)
			list = append(list, river.InsertManyParams{
				Args: args{t.Kind, t.Space, t.Subject, t.Version},
				InsertOpts: &river.InsertOpts{Queue: t.Space.String(), Priority: priority(t.Priority), MaxAttempts: MaxAttempts,
					UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: everyState}},
			})
		}
	}
	q.mu.Unlock()
	for _, t := range fresh {
		if err := t.check(); err != nil {
			return 0, fmt.Errorf("add a job: %w", err)
		}
	}
	const atOnce = 500
	for len(list) > 0 {
		n := min(len(list), atOnce)
		results, err := c.InsertMany(ctx, list[:n])
		if err != nil {
			return added, fmt.Errorf("add jobs: %w", err)
		}
		for _, r := range results {
			if !r.UniqueSkippedAsDuplicate {
				added++
			}
		}
		q.note(fresh[:n])
		list, fresh = list[n:], fresh[n:]
	}
	return added, nil
}

// note remembers tasks that are there.
func (q *Queue) note(tasks []Task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range tasks {
		if q.known[t.Space] == nil {
			q.known[t.Space] = map[Task]bool{}
		}
		q.known[t.Space][t] = true
	}
}

func priority(p Priority) int {
	if p == 0 {
		p = Soon
	}
	return int(min(max(p, First), Seldom))
}

const maxName = 100

func (t *Task) check() error {
	known := false
	for _, k := range kinds {
		known = known || k == t.Kind
	}
	switch {
	case !known:
		return fmt.Errorf("%w: a job of kind %q", memory.ErrInvalid, t.Kind)
	case t.Subject == "" || len(t.Subject) > maxName || len(t.Version) > maxName:
		return fmt.Errorf("%w: a %s job with a subject of %d bytes and a version of %d: 1 to %d, and at most that", memory.ErrInvalid, t.Kind, len(t.Subject), len(t.Version), maxName)
	case t.Space == memory.SpaceID{}:
		return fmt.Errorf("%w: a %s job of no space", memory.ErrInvalid, t.Kind)
	}
	return nil
}

// outcome is what is kept beside River's own fields of a job.
type outcome struct {
	Engine    string `json:"engine,omitempty"`
	Reason    string `json:"reason,omitempty"` // why it waits
	Discarded bool   `json:"discarded,omitempty"`
	Cost
}

func outcomeOf(row *rivertype.JobRow) (o outcome) {
	if b := row.Output(); b != nil {
		_ = json.Unmarshal(b, &o) // what is not ours is left out
	}
	return o
}
