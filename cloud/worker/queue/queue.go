// Package queue keeps a worker's jobs: those to be done, those done, and those
// that failed, with the reason. It uses River, on SQLite in the worker's home,
// or on a PostgreSQL that several workers share.
//
// The words:
//
//   - A [Task] is one kind of work on one subject of one space, by one version
//     of the code that does it. It is added once, however often and by whomever
//     it is requested.
//   - A [Job] is a task with its state. One worker at a time does it. It ends
//     as done, parked or discarded, and may be postponed before that.
//   - When a worker dies, its running job waits again: on SQLite from the next
//     opening of the queue, on PostgreSQL as soon as the worker's lease has
//     ended (see leases.go). After [MaxAttempts] such ends the job is parked,
//     because it may be what kills the worker.
//   - A budget is what one space may cost in a day (UTC). When it is used up,
//     jobs that cost something wait for the next day and say so.
//
// A job may still be done twice: by a worker that lost its connection to the
// database, and by the next one. A handler must therefore give the same result
// when it is run again.
//
// The database has ids, names of engines, times, costs and reasons, and nothing
// of what was said or seen. When a space ends, its data is overwritten in
// SQLite. In PostgreSQL it is deleted as soon as no living worker is in the
// space.
package queue

import (
	"cmp"
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

// Kind is a kind of work. Kinds of work on sources have the names of their
// results.
type Kind = result.Kind

// The kinds of work on sound and pictures.
const (
	Transcribe      = result.Transcribe // a recording
	Read            = result.Read       // the text in a photo
	Caption         = result.Caption    // what a photo shows
	Sequence        = result.Sequence   // what a series of photos shows
	Question   Kind = "question"        // a person's question about a photo
)

// The kinds of work on words.
const (
	Language Kind = "language" // memories in what was said
	Summary  Kind = "summary"  // of a conversation, for understanding its later lines
	Graph    Kind = "graph"    // names of the same thing, and communities
	Dream    Kind = "dream"    // memories that say the same
)

// kinds lists all kinds. A job of another kind is refused.
var kinds = []Kind{Transcribe, Read, Caption, Sequence, Question, Language, Summary, Graph, Dream}

// Priority is the order within a space, from 1 (first) to 4.
type Priority int

// The priorities. Zero is NormalPriority.
const (
	UrgentPriority       Priority = 1 // a person waits for it
	NormalPriority       Priority = 2
	LowPriority          Priority = 3 // not urgent
	HousekeepingPriority Priority = 4 // housekeeping
)

// MaxAttempts is how many times a job is tried.
const MaxAttempts = 5

// Task is a piece of work.
type Task struct {
	Space    memory.SpaceID
	Kind     Kind
	Subject  string // a memory's id or another opaque name, of 1 to 100 bytes
	Version  string // of the code that does the work, up to 100 bytes; another version is another task
	Priority Priority
}

// Options are the options of a queue. Either File or DB is needed.
type Options struct {
	File string      // SQLite
	DB   base.Opener // a database that several workers share

	Parallel int           // jobs at a time in this process; 0: 1
	Budget   Cost          // of each space and day; zero fields: no limit
	Pause    time.Duration // before the second attempt, doubled with each further attempt; 0: 10 s
	Lease    time.Duration // time without renewal after which a worker counts as dead; 0: 45 s; not used with SQLite
	Look     time.Duration // how often to look for jobs that were not announced; 0: 1 s on SQLite, 5 s on PostgreSQL
	Now      func() time.Time
	Log      *slog.Logger // nil: nothing is logged
}

// Errors of a queue.
var (
	ErrNoJob   = errors.New("there is no such job")
	ErrRunning = errors.New("the job is running")
)

// Queue is a queue of jobs, open until Close. Its methods are safe for
// concurrent use.
type Queue struct {
	o     Options
	name  string // of this worker, for leases
	page  int    // how many jobs are listed at a time
	base  *base.Base
	turns chan struct{} // has a value for each job that may run

	mu      sync.Mutex
	client  base.Client // the client that runs jobs, or one that only adds and lists
	spaces  map[memory.SpaceID]bool
	known   map[memory.SpaceID]map[Task]bool // tasks that were added, or found in the database
	running bool                             // Run is running
	leaves  []leave
	doing   map[int64]bool    // ids of the jobs that handlers are at
	idle    map[int64]idleJob // by job id: the idle jobs that the last beat saw
	changed chan struct{}
	settle  time.Duration // see settle; shorter in tests

	// Guards River's client (v0.31.0), which keeps its queues in a map without a lock. On SQLite
	// the client reads it when it adds or cancels a job; that takes the read lock. Adding a queue
	// takes the write lock.
	queues sync.RWMutex

	patience time.Duration // see patience; shorter in tests
	after    sync.Map      // job id to the time for which its engine wants no requests
}

// Open opens the queue, or makes it. With SQLite, only one process may have it
// open, so a job that is marked as running was interrupted.
func Open(ctx context.Context, o Options) (*Queue, error) {
	q, err := open(o, false)
	if err != nil {
		return nil, err
	}
	err = q.base.Locked(ctx, func() error { return q.base.Migrate(ctx) })
	if err == nil && !q.base.Shared {
		// The leader was an earlier process. This prevents waiting for the end
		// of its term.
		_, err = q.base.DB.ExecContext(ctx, `DELETE FROM river_leader`)
	}
	if err == nil && !q.base.Shared {
		err = q.rescue(ctx, func(*rivertype.JobRow) string { return endedReason })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the job queue: %w", err), q.Close())
	}
	return q, nil
}

// OpenBeside opens an existing queue to list, retry and discard jobs, while workers
// have it open.
func OpenBeside(_ context.Context, o Options) (*Queue, error) { return open(o, true) }

func open(o Options, mustExist bool) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Pause <= 0 {
		o.Pause = 10 * time.Second
	}
	if o.Lease <= 0 {
		o.Lease = 45 * time.Second
	}
	o.Parallel = max(o.Parallel, 1)
	q := &Queue{o: o, name: newName(), page: 500, turns: make(chan struct{}, o.Parallel), doing: map[int64]bool{}, settle: settle, patience: patience, spaces: map[memory.SpaceID]bool{},
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

// Close closes the database. It must be called after Run has returned.
func (q *Queue) Close() error { return q.base.Close() }

// args is a task as River stores it. The space is River's queue.
type args struct {
	kind    Kind
	Space   memory.SpaceID `json:"space" river:"unique"`
	Subject string         `json:"subject" river:"unique"`
	Version string         `json:"version" river:"unique"`
}

// Kind returns the name by which River knows the kind.
func (a args) Kind() string { return string(a.kind) }

// everyState lists all states, because a task is added only once, whatever its
// state.
var everyState = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStateCancelled, rivertype.JobStateCompleted, rivertype.JobStateDiscarded,
	rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}

// Add adds tasks that are not in the queue in any state, and returns how many
// it added.
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
		q.queues.RLock()
		results, err := c.InsertMany(ctx, list[:n])
		q.queues.RUnlock()
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

// note remembers existing tasks.
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
	p = cmp.Or(p, NormalPriority)
	return int(min(max(p, UrgentPriority), HousekeepingPriority))
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
		return fmt.Errorf("%w: a %s job without a space", memory.ErrInvalid, t.Kind)
	}
	return nil
}

// outcome is stored beside River's own fields of a job.
type outcome struct {
	Engine    string `json:"engine,omitempty"`
	Reason    string `json:"reason,omitempty"` // why it waits
	Discarded bool   `json:"discarded,omitempty"`
	Cost
}

func outcomeOf(row *rivertype.JobRow) (o outcome) {
	if b := row.Output(); b != nil {
		_ = json.Unmarshal(b, &o) // unknown content is ignored
	}
	return o
}
