package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/locket-dev/locket/cloud/worker/queue/base"
	"github.com/locket-dev/locket/memory"
)

// State is the state of a job.
type State string

// The states.
const (
	Waiting   State = "waiting" // until it is its turn, or until Next
	Busy      State = "running"
	Done      State = "done"
	Parked    State = "parked"    // until somebody removes the cause in Reason
	Discarded State = "discarded" // given up by a person; it is not added again
)

// rivers returns River's states for a state of ours.
func (s State) rivers() []rivertype.JobState {
	switch s {
	case Waiting:
		return []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateScheduled}
	case Busy:
		return []rivertype.JobState{rivertype.JobStateRunning}
	case Done:
		return []rivertype.JobState{rivertype.JobStateCompleted}
	case Parked, Discarded:
		return []rivertype.JobState{rivertype.JobStateCancelled, rivertype.JobStateDiscarded}
	}
	return everyState
}

// Known reports whether s is a state, or empty.
func (s State) Known() bool { return s == "" || len(s.rivers()) < len(everyState) }

// Job is a task with its state.
type Job struct {
	ID       int64          `json:"id"`
	Space    memory.SpaceID `json:"space"`
	Kind     Kind           `json:"kind"`
	Subject  string         `json:"subject"`
	Version  string         `json:"version,omitempty"`
	Priority Priority       `json:"priority"`
	Engine   string         `json:"engine,omitempty"` // that did it, or that tried last
	State    State          `json:"state"`
	Attempts int            `json:"attempts"`
	Reason   string         `json:"reason,omitempty"` // of the last failure, or why it waits
	Next     time.Time      `json:"next,omitzero"`    // a waiting job does not start before this time
	Added    time.Time      `json:"added"`
	Updated  time.Time      `json:"updated"`
	Cost
	Failures []Failure `json:"failures,omitempty"` // only in the answer for a single job
}

// Failure is a failed attempt.
type Failure struct {
	At      time.Time `json:"at"`
	Attempt int       `json:"attempt"`
	Reason  string    `json:"reason"`
}

func jobOf(row *rivertype.JobRow) Job {
	var a args
	_ = json.Unmarshal(row.EncodedArgs, &a) // River's own JSON of the arguments of Add
	o := outcomeOf(row)
	j := Job{ID: row.ID, Space: a.Space, Kind: Kind(row.Kind), Subject: a.Subject, Version: a.Version, Priority: Priority(row.Priority),
		Engine: o.Engine, Attempts: row.Attempt, Cost: o.Cost, Added: row.CreatedAt.UTC(), Updated: row.CreatedAt.UTC()}
	if row.AttemptedAt != nil {
		j.Updated = row.AttemptedAt.UTC()
	}
	if row.FinalizedAt != nil {
		j.Updated = row.FinalizedAt.UTC()
	}
	if n := len(row.Errors); n > 0 {
		j.Reason = row.Errors[n-1].Error
	}
	switch row.State {
	case rivertype.JobStateRunning:
		j.State = Busy
	case rivertype.JobStateCompleted:
		j.State, j.Reason = Done, ""
	case rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		j.State = Parked
		if row.State == rivertype.JobStateDiscarded {
			j.Reason = fmt.Sprintf("%s (tried %d times)", j.Reason, row.Attempt)
		}
		if o.Discarded {
			j.State = Discarded
		}
	default:
		j.State = Waiting
		if row.Attempt > 0 || o.Reason != "" {
			j.Next = row.ScheduledAt.UTC()
		}
		if o.Reason != "" {
			j.Reason = o.Reason
		}
	}
	return j
}

// Filter says which jobs to list.
type Filter struct {
	Space memory.SpaceID // zero: all spaces
	Kind  Kind           // empty: all kinds
	State State          // empty: all states
	Limit int            // 0: no limit
}

// List returns jobs, those that were added last first.
func (q *Queue) List(ctx context.Context, f Filter) ([]Job, error) {
	p := river.NewJobListParams().OrderBy(river.JobListOrderByID, river.SortOrderDesc).States(f.State.rivers()...)
	if f.Space != (memory.SpaceID{}) {
		p = p.Queues(f.Space.String())
	}
	if f.Kind != "" {
		p = p.Kinds(string(f.Kind))
	}
	var list []Job
	err := q.each(ctx, p, func(row *rivertype.JobRow) bool {
		if j := jobOf(row); f.State == "" || j.State == f.State {
			list = append(list, j)
		}
		return f.Limit <= 0 || len(list) < f.Limit
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return list, nil
}

// Job returns one job with its failures.
func (q *Queue) Job(ctx context.Context, id int64) (Job, error) {
	row, err := q.at().JobGet(ctx, id)
	if err != nil {
		return Job{}, q.wrap(id, "show", err)
	}
	j := jobOf(row)
	for _, e := range row.Errors {
		j.Failures = append(j.Failures, Failure{At: e.At.UTC(), Attempt: e.Attempt, Reason: e.Error})
	}
	return j, nil
}

// Retry makes a job run again at once, whether it waits, was parked, was
// discarded or is done. A running job is left alone.
func (q *Queue) Retry(ctx context.Context, id int64) error {
	row, err := q.at().JobGet(ctx, id)
	if err == nil && row.State == rivertype.JobStateRunning {
		err = ErrRunning
	}
	if err == nil {
		o := outcomeOf(row)
		o.Discarded, o.Reason = false, ""
		_, err = q.at().JobUpdate(ctx, id, &river.JobUpdateParams{Output: o})
	}
	if err == nil {
		_, err = q.at().JobRetry(ctx, id)
	}
	return q.wrap(id, "retry", err)
}

// Discard gives up a waiting or parked job. It is not added again.
func (q *Queue) Discard(ctx context.Context, id int64) error {
	row, err := q.at().JobGet(ctx, id)
	switch {
	case err != nil:
	case row.State == rivertype.JobStateRunning:
		err = ErrRunning
	case row.State == rivertype.JobStateCompleted:
		err = fmt.Errorf("%w: it is done already", memory.ErrInvalid)
	default:
		o := outcomeOf(row)
		o.Discarded = true
		c := q.at()
		q.queues.RLock()
		_, err = c.JobCancel(ctx, id)
		q.queues.RUnlock()
		if err == nil {
			_, err = q.at().JobUpdate(ctx, id, &river.JobUpdateParams{Output: o})
		}
	}
	return q.wrap(id, "discard", err)
}

func (q *Queue) wrap(id int64, doing string, err error) error {
	if errors.Is(err, rivertype.ErrNotFound) {
		err = ErrNoJob
	}
	if err != nil {
		return fmt.Errorf("%s job %d: %w", doing, id, err)
	}
	return nil
}

func (q *Queue) at() base.Client {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.client
}

// RetryParked makes parked jobs of a kind wait again, if the engine that tried
// last was another one or none.
func (q *Queue) RetryParked(ctx context.Context, kind Kind, engine string) (n int, err error) {
	list, err := q.List(ctx, Filter{Kind: kind, State: Parked})
	for _, j := range list {
		if err == nil && j.Engine != engine {
			err = q.Retry(ctx, j.ID)
			n++
		}
	}
	return n, err
}

// Count is the number of jobs of a kind in each state.
type Count struct {
	Kind      Kind  `json:"kind"`
	Waiting   int64 `json:"waiting"`
	Running   int64 `json:"running"`
	Done      int64 `json:"done"`
	Parked    int64 `json:"parked"`
	Discarded int64 `json:"discarded"`
}

// Counts returns the number of jobs in each state, for each kind that has jobs
// in a space.
func (q *Queue) Counts(ctx context.Context, space memory.SpaceID) ([]Count, error) {
	// PostgreSQL and SQLite both have the operator ->.
	rows, err := q.base.DB.QueryContext(ctx, `SELECT kind, CAST(state AS TEXT), metadata -> 'output' -> 'discarded' IS NOT NULL, count(*)
		FROM river_job WHERE queue = $1 GROUP BY 1, 2, 3 ORDER BY 1`, space.String())
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	defer rows.Close()
	var out []Count
	for rows.Next() {
		var kind Kind
		var state rivertype.JobState
		var discarded bool
		var n int64
		if err := rows.Scan(&kind, &state, &discarded, &n); err != nil {
			return nil, fmt.Errorf("count jobs: %w", err)
		}
		if len(out) == 0 || out[len(out)-1].Kind != kind {
			out = append(out, Count{Kind: kind})
		}
		c := &out[len(out)-1]
		switch state {
		case rivertype.JobStateRunning:
			c.Running += n
		case rivertype.JobStateCompleted:
			c.Done += n
		case rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
			if discarded {
				c.Discarded += n
			} else {
				c.Parked += n
			}
		default:
			c.Waiting += n
		}
	}
	return out, rows.Err()
}
