// Package postgres is the relay's store for many machines: a PostgreSQL
// database for all that is small, objects for blobs. Any number of relays may
// serve one database.
//
// The tenant is the account. It comes first in every key, and row-level
// security shows a transaction the rows of the account that it names and no
// others: each runs as the role locket_relay, which owns nothing. What is given
// out in order (cursors, log numbers, quota) is read and written under the lock
// of the account's row, then of the space's: always in that order.
//
// A commit is on the disk of the database when it returns, unless the server
// was told otherwise (synchronous_commit).
package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/memory"
)

// Role is what the store works as; its login must be a member of it.
const Role = "locket_relay"

// conns is how many connections are used at most where the URL does not say
// (pool_max_conns).
const conns = 16

// ErrRole: the role would see more than it may.
var ErrRole = errors.New("the role does not keep tenants apart")

// Store is a [relay.Store] in a PostgreSQL database.
type Store struct {
	pool    *pgxpool.Pool
	objects objects.Objects
	known   directory
	lanes   [lanes]lane
	handed  sync.WaitGroup // leads of lanes that nobody who asked waits for

	closing sync.Once
	closed  error
}

var _ relay.Restorer = (*Store)(nil)

// Open opens the store in a database whose tables are of this program's
// version, with blobs in objects, which are closed with it.
func Open(ctx context.Context, url string, blobs objects.Objects) (*Store, error) {
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, errors.Join(err, blobs.Close())
	}
	s := &Store{pool: pool, objects: blobs}
	if err := s.Check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open relay store: %w", err), s.Close())
	}
	return s, nil
}

func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	// What the pool is told it takes out of what it gives.
	said, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	if said.RuntimeParams["pool_max_conns"] == "" {
		c.MaxConns = max(c.MaxConns, conns)
	}
	c.ConnConfig.RuntimeParams["application_name"] = "locket-cloud"
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET ROLE "+Role)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	return pool, nil
}

// Check reports whether the database answers, is of this program's version,
// and keeps tenants apart, and whether the objects answer.
func (s *Store) Check(ctx context.Context) error {
	var version int64
	var above, owns bool
	err := s.pool.QueryRow(ctx, `SELECT (SELECT max(version_id) FROM goose_db_version WHERE is_applied),
		(SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
		(SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = 'deltas'::regclass)`).Scan(&version, &above, &owns)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == "42P01" || e.Code == "42501" || e.Code == "22023") {
		return fmt.Errorf("%w: %s", ErrTables, e.Message)
	}
	if err != nil {
		return wrap(err)
	}
	if want, err := latest(); err != nil || version != want {
		return errors.Join(err, fmt.Errorf("%w: version %d, this program needs %d", ErrTables, version, want))
	}
	if above || owns {
		return fmt.Errorf("%w: %s is above it", ErrRole, Role)
	}
	return s.objects.Check(ctx)
}

// Pool gives how many connections to the database are in use, idle and allowed,
// and how long callers have waited for one since Open.
func (s *Store) Pool() (used, idle, most int, waited time.Duration) {
	st := s.pool.Stat()
	return int(st.AcquiredConns()), int(st.IdleConns()), int(st.MaxConns()), st.AcquireDuration()
}

// Close waits for the runs that were begun; none may begin any more. It may be
// called twice.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.handed.Wait()
		s.pool.Close()
		s.closed = s.objects.Close()
	})
	return s.closed
}

// name makes the rows of an account visible, until the transaction ends.
const name = "SELECT set_config('locket.account', $1, true)"

func named(account relay.AccountID) string { return hex.EncodeToString(account[:]) }

// change runs f in a transaction that sees one account and holds its row,
// which f is given; nil where there is none.
func (s *Store) change(ctx context.Context, what string, account relay.AccountID, f func(pgx.Tx, *relay.Account) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(name, named(account))
		b.Queue("SELECT bytes, blobs, day, deltas FROM accounts WHERE account = $1 FOR UPDATE", account[:])
		res := tx.SendBatch(ctx, b)
		_, err := res.Exec()
		a := &relay.Account{ID: account}
		if err == nil {
			err = res.QueryRow().Scan(&a.Bytes, &a.Blobs, &a.Day, &a.Deltas)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			a, err = nil, nil
		}
		if err := errors.Join(err, res.Close()); err != nil {
			return err
		}
		return f(tx, a)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, wrap(err))
	}
	return nil
}

// read runs one query that sees one account, in a single round trip: a batch is
// a transaction of its own.
func (s *Store) read(ctx context.Context, account relay.AccountID, each func(pgx.Rows) error, query string, args ...any) error {
	b := &pgx.Batch{}
	b.Queue(name, named(account))
	b.Queue(query, args...)
	res := s.pool.SendBatch(ctx, b)
	_, err := res.Exec()
	if err == nil {
		err = scan(res, each)
	}
	return wrap(errors.Join(err, res.Close()))
}

func scan(res pgx.BatchResults, each func(pgx.Rows) error) error {
	rows, err := res.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// wrap turns the driver's errors into the relay's, where it has a word.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return relay.ErrNotFound
	}
	var network net.Error
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case e.Code == "53100": // disk full
			return fmt.Errorf("%w: %w", relay.ErrFull, err)
		case e.Code[:2] == "08", e.Code[:2] == "53", e.Code[:3] == "57P", e.Code == "25006": // connection, resources, shutdown, a standby
			return fmt.Errorf("%w: %w", relay.ErrUnavailable, err)
		}
		return err
	}
	// Some find the connection closed before they use it, or within a transaction.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, pgx.ErrTxClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%w: %w", relay.ErrUnavailable, err)
	}
	return err
}

// maxKnown is how many spaces' accounts are remembered, each about 100 bytes.
const maxKnown = 1 << 16

// directory remembers whose a space is. A space that was deleted may come back
// as another's: who finds nothing asks again.
type directory struct {
	mu sync.Mutex
	of map[memory.SpaceID]relay.AccountID
}

func (d *directory) get(space memory.SpaceID) (relay.AccountID, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, ok := d.of[space]
	return a, ok
}

func (d *directory) set(space memory.SpaceID, account relay.AccountID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[memory.SpaceID]relay.AccountID{}
	}
	for k := range d.of {
		if len(d.of) < maxKnown {
			break
		}
		delete(d.of, k)
	}
	d.of[space] = account
}

func (d *directory) drop(space memory.SpaceID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, space)
}

// owner gives the account of a space, as remembered where it is.
func (s *Store) owner(ctx context.Context, space memory.SpaceID) (account relay.AccountID, remembered bool, err error) {
	if a, ok := s.known.get(space); ok {
		return a, true, nil
	}
	var b []byte
	if err := s.pool.QueryRow(ctx, "SELECT account_of($1)", space[:]).Scan(&b); err != nil {
		return account, false, wrap(err)
	}
	if b == nil {
		return account, false, relay.ErrNotFound
	}
	copy(account[:], b)
	s.known.set(space, account)
	return account, false, nil
}

// of runs f with the account of a space; again, if a remembered one is no
// longer right.
func (s *Store) of(ctx context.Context, space memory.SpaceID, f func(relay.AccountID) error) error {
	account, remembered, err := s.owner(ctx, space)
	if err != nil {
		return err
	}
	err = f(account)
	if remembered && errors.Is(err, relay.ErrNotFound) {
		s.known.drop(space)
		now, _, other := s.owner(ctx, space)
		if other != nil || now == account {
			return err
		}
		return f(now)
	}
	return err
}

// Sweep implements [relay.Store]. Objects that can't be reached keep nothing else
// from going.
func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	errs := []error{s.sweepUploads(ctx, now)}
	for _, past := range []struct {
		of string
		by int64
	}{{"mailboxes WHERE until", now.Unix()}, {"nonces WHERE until", now.Unix()}, {"paces WHERE at", now.Unix() - paid}} {
		_, err := s.pool.Exec(ctx, "DELETE FROM "+past.of+" <= $1", past.by)
		errs = append(errs, wrap(err))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}
