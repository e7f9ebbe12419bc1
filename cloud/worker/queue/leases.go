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

// beat renews this worker's leases. It also rescues the jobs of dead workers and
// this worker's own jobs that are lost.
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
// jobs that are lost. This worker is alive, even if its lease has ended.
func (q *Queue) takeOver(ctx context.Context, alive map[string]bool) error {
	idle := map[int64]idleJob{}
	err := q.rescue(ctx, func(row *rivertype.JobRow) string {
		by := ""
		if n := len(row.AttemptedBy); n > 0 {
			by = row.AttemptedBy[n-1]
		}
		switch {
		case by == q.name:
			since, is := q.idleSince(row)
			if !is {
				return ""
			}
			idle[row.ID] = idleJob{row.Attempt, since}
			if time.Since(since) >= q.settle {
				return lostReason
			}
			return ""
		case alive[by]:
			return ""
		}
		return endedReason
	})
	q.mu.Lock()
	q.idle = idle
	q.mu.Unlock()
	return err
}

// settle is the time after which an idle job is lost. River tries three times to
// store how a job ended. That takes 40 seconds at most, and then River gives up.
const settle = time.Minute

// idleJob is an attempt at a job of this worker that the database marks as
// running while no handler is at it, and when that was first seen. It happens
// for a moment before and after each job. If it lasts, the database was away
// when the job was taken or when it ended.
type idleJob struct {
	attempt int
	since   time.Time
}

// idleSince returns since when an attempt at a job of this worker is known to be
// idle. It returns false if a handler is at the job.
func (q *Queue) idleSince(row *rivertype.JobRow) (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.doing[row.ID] {
		return time.Time{}, false
	}
	if j, ok := q.idle[row.ID]; ok && j.attempt == row.Attempt {
		return j.since, true
	}
	return time.Now(), true
}

// endLeases ends this worker's leases.
func (q *Queue) endLeases(ctx context.Context) error {
	if !q.base.Shared {
		return nil
	}
	_, err := q.base.DB.ExecContext(ctx, `DELETE FROM locket_worker WHERE name = $1`, q.name)
	return err
}

const (
	endedReason = "the worker ended while it did the job"
	lostReason  = "the database was away, so nobody knows how it ended"
)

// rescue takes running jobs from their workers. They wait for the next worker,
// or are parked if they were tried too often. reason returns why a job is taken;
// it is empty for a job that stays with its worker.
func (q *Queue) rescue(ctx context.Context, reason func(*rivertype.JobRow) string) error {
	now := time.Now().UTC()
	many := &riverdriver.JobRescueManyParams{}
	err := q.each(ctx, river.NewJobListParams().States(rivertype.JobStateRunning), func(row *rivertype.JobRow) bool {
		because := reason(row)
		if because == "" {
			return true
		}
		why, _ := json.Marshal(rivertype.AttemptError{At: now, Attempt: row.Attempt, Error: because}) // plain fields can always be encoded
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
		return q.base.Wipe(ctx)
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
