package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/locket-dev/locket/memory"
)

// Workers that share a database hold a lease for each of their spaces, and
// renew it four times within its length. If the worker of a running job has no
// lease any more, another worker takes over the job. Times are by the
// database's clock.
//
// River itself uses the running time of a job for this, an hour by default. A
// long recording may take longer, and a dead worker would be noticed too late.

// newName returns a name for one run of a worker.
func newName() string { return "worker-" + strings.ToLower(rand.Text()) }

// nowMS is the database's clock. It is used only with PostgreSQL.
const nowMS = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

// beat renews this worker's leases, takes over the jobs of dead workers, and
// takes up its own that are lost.
func (q *Queue) beat(ctx context.Context, spaces map[memory.SpaceID]bool) error {
	if !q.base.Shared {
		return q.takeOver(ctx, nil)
	}
	for s := range spaces {
		_, err := q.base.DB.ExecContext(ctx, `INSERT INTO locket_worker VALUES ($1, $2, `+nowMS+` + $3)
			ON CONFLICT (name, space) DO UPDATE SET until = excluded.until`, q.name, s.String(), q.o.Lease.Milliseconds())
		if err != nil {
			return err
		}
	}
	return q.base.Locked(ctx, func() error {
		if _, err := q.base.DB.ExecContext(ctx, `DELETE FROM locket_worker WHERE until < `+nowMS); err != nil {
			return err
		}
		alive := map[string]bool{}
		rows, err := q.base.DB.QueryContext(ctx, `SELECT DISTINCT name FROM locket_worker`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n string
			if err := rows.Scan(&n); err != nil {
				return err
			}
			alive[n] = true
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return q.takeOver(ctx, alive)
	})
}

// takeOver rescues the jobs of workers that are not alive, and this worker's own
// that are lost. This worker is alive, even if its lease has ended.
func (q *Queue) takeOver(ctx context.Context, alive map[string]bool) error {
	idle := map[int64]idleJob{}
	err := q.rescue(ctx, func(row *rivertype.JobRow, by string) bool {
		if by == q.name {
			return !q.lost(row, idle)
		}
		return alive[by]
	})
	q.mu.Lock()
	q.idle = idle
	q.mu.Unlock()
	return err
}

// settle is how long a job of this worker may be marked as running without
// being done. River tries three times to store a job's end, for at most 40
// seconds in all, and then gives it up.
const settle = time.Minute

// lost reports whether a job that the database says this worker is doing is not
// being done, and was not for [settle]. The database was away when the job was
// taken, or when it ended. Nobody else would notice, as this worker lives. It
// adds the job to idle if it is not being done.
func (q *Queue) lost(row *rivertype.JobRow, idle map[int64]idleJob) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.doing[row.ID] {
		return false
	}
	j, ok := q.idle[row.ID]
	if !ok || j.attempt != row.Attempt {
		j = idleJob{row.Attempt, time.Now()}
	}
	idle[row.ID] = j
	return time.Since(j.since) >= q.settle
}

// idleJob is an attempt at a job that is marked as running and is not being
// done, and when that was seen first.
type idleJob struct {
	attempt int
	since   time.Time
}

// bye ends this worker's leases.
func (q *Queue) bye(ctx context.Context) error {
	if !q.base.Shared {
		return nil
	}
	_, err := q.base.DB.ExecContext(ctx, `DELETE FROM locket_worker WHERE name = $1`, q.name)
	return err
}

const (
	endedReason = "the worker ended in the midst of it"
	lostReason  = "the database was away, so nobody knows how it ended"
)

// rescue makes running jobs that nobody does wait for a worker. It parks jobs
// that were tried too often. does reports whether the worker with that name
// does the job; nil means that no worker is alive.
func (q *Queue) rescue(ctx context.Context, does func(row *rivertype.JobRow, by string) bool) error {
	now := time.Now().UTC()
	many := &riverdriver.JobRescueManyParams{}
	err := q.each(ctx, river.NewJobListParams().States(rivertype.JobStateRunning), func(row *rivertype.JobRow) bool {
		reason := endedReason
		if n := len(row.AttemptedBy); n > 0 && does != nil {
			by := row.AttemptedBy[n-1]
			if does(row, by) {
				return true
			}
			if by == q.name {
				reason = lostReason
			}
		}
		why, _ := json.Marshal(rivertype.AttemptError{At: now, Attempt: row.Attempt, Error: reason}) // plain fields can always be encoded
		state, ended := rivertype.JobStateAvailable, (*time.Time)(nil)
		if row.Attempt >= row.MaxAttempts {
			state, ended = rivertype.JobStateDiscarded, &now
		}
		many.ID = append(many.ID, row.ID)
		many.Error = append(many.Error, why)
		many.FinalizedAt = append(many.FinalizedAt, ended)
		many.ScheduledAt = append(many.ScheduledAt, now)
		many.State = append(many.State, string(state))
		return true
	})
	if err != nil || len(many.ID) == 0 {
		return err
	}
	for i := range many.FinalizedAt { // on PostgreSQL River writes no time in this way
		if many.FinalizedAt[i] == nil && q.base.Shared {
			many.FinalizedAt[i] = &time.Time{}
		}
	}
	_, err = q.base.Executor.JobRescueMany(ctx, many)
	return err
}

// leave is a space that is being left while jobs run.
type leave struct {
	space memory.SpaceID
	done  chan error
}

// Leave ends a space at this worker, and deletes the space's data in the queue
// unless another living worker has the space. It first interrupts the running
// jobs of the space. The other jobs of this process are interrupted, too, and
// start again. A job must not call it.
func (q *Queue) Leave(ctx context.Context, space memory.SpaceID) error {
	l := leave{space, make(chan error, 1)}
	q.mu.Lock()
	delete(q.spaces, space)
	delete(q.known, space)
	running := q.running
	if running {
		q.leaves = append(q.leaves, l)
	}
	q.mu.Unlock()
	if !running {
		return q.forget(ctx, space)
	}
	q.wake()
	select {
	case err := <-l.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leaving returns the spaces whose data has to be deleted as soon as no job
// runs.
func (q *Queue) leaving() []leave {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.leaves
	q.leaves = nil
	return l
}

// forget deletes a space's data. None of its jobs may be running here, because
// River does not expect a running job to be deleted.
func (q *Queue) forget(ctx context.Context, space memory.SpaceID) error {
	err := q.base.Locked(ctx, func() error {
		if q.base.Shared {
			var others int
			if err := q.base.DB.QueryRowContext(ctx, `SELECT count(*) FROM locket_worker WHERE space = $1 AND name <> $2 AND until >= `+nowMS, space.String(), q.name).Scan(&others); err != nil {
				return err
			}
			if others > 0 {
				_, err := q.base.DB.ExecContext(ctx, `DELETE FROM locket_worker WHERE space = $1 AND name = $2`, space.String(), q.name)
				return err
			}
		}
		for _, clean := range []string{`DELETE FROM river_job WHERE queue = $1`, `DELETE FROM river_queue WHERE name = $1`,
			`DELETE FROM locket_worker WHERE space = $1`, `DELETE FROM locket_spent WHERE space = $1`} {
			if _, err := q.base.DB.ExecContext(ctx, clean, space.String()); err != nil {
				return err
			}
		}
		return q.base.Wiped(ctx)
	})
	if err != nil {
		return fmt.Errorf("drop the jobs of a space: %w", err)
	}
	return nil
}

// each calls f with every job of a list until f returns false.
func (q *Queue) each(ctx context.Context, p *river.JobListParams, f func(*rivertype.JobRow) bool) error {
	q.mu.Lock()
	c := q.client
	q.mu.Unlock()
	p = p.First(q.page)
	for next := p; ; {
		page, err := c.JobList(ctx, next)
		if err != nil {
			return err
		}
		for _, row := range page.Jobs {
			if !f(row) {
				return nil
			}
		}
		if len(page.Jobs) < q.page || page.LastCursor == nil {
			return nil
		}
		next = p.After(page.LastCursor) // p, and not next, because River appends to what it gets
	}
}
