// Package queue keeps a worker's jobs on its disk: what is to be done, what was
// done, and what could not be, with the reason.
//
// A [Job] is one kind of work on one memory. It is added once, however often
// it is asked for; taken by one goroutine at a time; and ends as done or
// parked. Between, it may be put off. A job that was running when the process
// died is waiting again when the queue is opened, and after [MaxAttempts] such
// ends it is parked: it may be what kills the process.
//
// The file holds ids, engines' names, times and reasons, and nothing of what
// was said or seen; a dropped space is overwritten in it.
package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/memory"

	_ "modernc.org/sqlite" // the driver
)

// Kind is what is to be done.
type Kind string

// The kinds.
const (
	Transcribe Kind = "transcribe" // a recording
	Read       Kind = "read"       // the print of a photo
	Caption    Kind = "caption"    // what a photo shows
)

// State is where a job stands.
type State string

// The states.
const (
	Waiting State = "waiting" // for its turn, or for Next
	Running State = "running"
	Done    State = "done"
	Parked  State = "parked" // until someone does something about Reason
)

// MaxAttempts is how often a job is tried.
const MaxAttempts = 5

// Job is one kind of work on one memory of one space.
type Job struct {
	Space    memory.SpaceID `json:"space"`
	Memory   memory.ID      `json:"memory"`
	Kind     Kind           `json:"kind"`
	Engine   string         `json:"engine,omitempty"` // that did it, or tried last
	State    State          `json:"state"`
	Attempts int            `json:"attempts"`
	Reason   string         `json:"reason,omitempty"` // of the last failure, in words
	Next     time.Time      `json:"next,omitzero"`    // not before
	Updated  time.Time      `json:"updated"`
}

// ErrNone: there is no job to be done now.
var ErrNone = errors.New("no job is due")

// Queue is open until Close. Its methods are safe for concurrent use.
type Queue struct {
	db  *sql.DB
	now func() time.Time
}

const schema = `
CREATE TABLE IF NOT EXISTS job (
	space BLOB NOT NULL, memory BLOB NOT NULL, kind TEXT NOT NULL,
	engine TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, reason TEXT NOT NULL,
	next INTEGER NOT NULL, added INTEGER NOT NULL, updated INTEGER NOT NULL, -- ms since 1970
	PRIMARY KEY (space, memory, kind)
) WITHOUT ROWID, STRICT;
CREATE INDEX IF NOT EXISTS job_due ON job (state, next, added);
PRAGMA user_version = 1;`

// Open opens the queue in a file, or makes it. One process has it open at a
// time: what it finds running, it takes for broken off. now may be nil.
func Open(ctx context.Context, file string, now func() time.Time) (*Queue, error) {
	if now == nil {
		now = time.Now
	}
	db, err := connect(file, "_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=secure_delete(on)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	q := &Queue{db, now}
	var version int
	if err := db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		db.Close()
		return nil, fmt.Errorf("job queue %s: %w", file, err)
	}
	if version > 1 {
		db.Close()
		return nil, fmt.Errorf("job queue %s: written by a later version of Locket", file)
	}
	_, err = db.ExecContext(ctx, schema)
	if err == nil {
		_, err = db.ExecContext(ctx, `UPDATE job SET state = CASE WHEN attempts >= ? THEN 'parked' ELSE 'waiting' END, reason = 'the worker ended in the midst of it', updated = ?
			WHERE state = 'running'`, MaxAttempts, now().UnixMilli())
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("job queue %s: %w", file, err)
	}
	return q, nil
}

// Look opens a queue to read from it, beside the process that has it open. Only
// List and Close are of use then.
func Look(file string) (*Queue, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	db, err := connect(file, "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(on)")
	if err != nil {
		return nil, err
	}
	return &Queue{db, time.Now}, nil
}

func connect(file, query string) (*sql.DB, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: query}).String())
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Close closes the file.
func (q *Queue) Close() error { return q.db.Close() }

// Add puts a job in, unless it is there in any state.
func (q *Queue) Add(ctx context.Context, space memory.SpaceID, id memory.ID, kind Kind) (added bool, err error) {
	now := q.now().UnixMilli()
	r, err := q.db.ExecContext(ctx, `INSERT INTO job VALUES (?, ?, ?, '', 'waiting', 0, '', 0, ?, ?) ON CONFLICT DO NOTHING`, space[:], id[:], string(kind), now, now)
	if err != nil {
		return false, fmt.Errorf("add a job: %w", err)
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

const columns = `space, memory, kind, engine, state, attempts, reason, next, updated`

// Take gives the job that is due longest, now running, or [ErrNone] and when
// the next one is due, zero if none is.
func (q *Queue) Take(ctx context.Context) (*Job, time.Time, error) {
	now := q.now().UnixMilli()
	row := q.db.QueryRowContext(ctx, `UPDATE job SET state = 'running', attempts = attempts + 1, updated = ?1
		WHERE (space, memory, kind) = (SELECT space, memory, kind FROM job WHERE state = 'waiting' AND next <= ?1 ORDER BY next, added LIMIT 1)
		RETURNING `+columns, now)
	j, err := scan(row)
	if !errors.Is(err, sql.ErrNoRows) {
		return j, time.Time{}, wrap("take a job", err)
	}
	var next sql.NullInt64
	if err := q.db.QueryRowContext(ctx, `SELECT min(next) FROM job WHERE state = 'waiting'`).Scan(&next); err != nil {
		return nil, time.Time{}, wrap("take a job", err)
	}
	if !next.Valid {
		return nil, time.Time{}, ErrNone
	}
	return nil, time.UnixMilli(next.Int64), ErrNone
}

// Finish ends a job that was taken.
func (q *Queue) Finish(ctx context.Context, j *Job, engine string) error {
	return q.set(ctx, j, engine, Done, "", 0)
}

// Park ends a job that was taken until something is done about the reason.
func (q *Queue) Park(ctx context.Context, j *Job, engine, reason string) error {
	return q.set(ctx, j, engine, Parked, reason, 0)
}

// PutOff has a job that was taken tried again, not before after has passed, nor
// before the pace of failures allows: 10 s, doubled with each attempt. After
// [MaxAttempts] it is parked.
func (q *Queue) PutOff(ctx context.Context, j *Job, engine, reason string, after time.Duration) error {
	if j.Attempts >= MaxAttempts {
		return q.Park(ctx, j, engine, fmt.Sprintf("%s (tried %d times)", reason, j.Attempts))
	}
	after = max(after, 10*time.Second<<(j.Attempts-1))
	return q.set(ctx, j, engine, Waiting, reason, q.now().Add(after).UnixMilli())
}

// Return puts a job back that was taken, as if it had not been: the worker
// stops, or can't do it for a reason that is not the job's. It is due again
// after a while.
func (q *Queue) Return(ctx context.Context, j *Job, after time.Duration) error {
	_, err := q.db.ExecContext(ctx, `UPDATE job SET state = 'waiting', attempts = attempts - 1, next = ? WHERE space = ? AND memory = ? AND kind = ? AND state = 'running'`,
		q.now().Add(after).UnixMilli(), j.Space[:], j.Memory[:], string(j.Kind))
	return wrap("return a job", err)
}

func (q *Queue) set(ctx context.Context, j *Job, engine string, s State, reason string, next int64) error {
	_, err := q.db.ExecContext(ctx, `UPDATE job SET engine = ?, state = ?, reason = ?, next = ?, updated = ? WHERE space = ? AND memory = ? AND kind = ? AND state = 'running'`,
		engine, string(s), reason, next, q.now().UnixMilli(), j.Space[:], j.Memory[:], string(j.Kind))
	return wrap("note a job", err)
}

// Retry has parked jobs of a kind tried anew, all of them or, where engine is
// not empty, those that another engine (or none) tried last.
func (q *Queue) Retry(ctx context.Context, kind Kind, engine string) (int, error) {
	r, err := q.db.ExecContext(ctx, `UPDATE job SET state = 'waiting', attempts = 0, next = 0, updated = ? WHERE state = 'parked' AND kind = ? AND (?3 = '' OR engine <> ?3)`,
		q.now().UnixMilli(), string(kind), engine)
	if err != nil {
		return 0, wrap("retry jobs", err)
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// List gives the jobs of a state, the latest first; of all states where it is
// empty. limit 0 is none.
func (q *Queue) List(ctx context.Context, s State, limit int) ([]Job, error) {
	if limit <= 0 {
		limit = -1
	}
	rows, err := q.db.QueryContext(ctx, `SELECT `+columns+` FROM job WHERE ?1 = '' OR state = ?1 ORDER BY updated DESC, memory LIMIT ?2`, string(s), limit)
	if err != nil {
		return nil, wrap("list jobs", err)
	}
	defer rows.Close()
	var list []Job
	for rows.Next() {
		j, err := scan(rows)
		if err != nil {
			return nil, wrap("list jobs", err)
		}
		list = append(list, *j)
	}
	return list, wrap("list jobs", rows.Err())
}

// Drop removes every job of a space, and overwrites what the file held of them.
func (q *Queue) Drop(ctx context.Context, space memory.SpaceID) error {
	if _, err := q.db.ExecContext(ctx, `DELETE FROM job WHERE space = ?`, space[:]); err != nil {
		return wrap("drop jobs", err)
	}
	_, err := q.db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return wrap("drop jobs", err)
}

func scan(row interface{ Scan(...any) error }) (*Job, error) {
	var j Job
	var space, id []byte
	var next, updated int64
	if err := row.Scan(&space, &id, &j.Kind, &j.Engine, &j.State, &j.Attempts, &j.Reason, &next, &updated); err != nil {
		return nil, err
	}
	if len(space) != len(j.Space) || len(id) != len(j.Memory) {
		return nil, fmt.Errorf("%w: an id of %d bytes", memory.ErrDamaged, len(id))
	}
	copy(j.Space[:], space)
	copy(j.Memory[:], id)
	if next > 0 {
		j.Next = time.UnixMilli(next).UTC()
	}
	j.Updated = time.UnixMilli(updated).UTC()
	return &j, nil
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
