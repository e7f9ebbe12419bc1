// Package postgres is the relay's store for many machines: a PostgreSQL database
// for small data, and objects for blobs. Any number of relays can serve one
// database.
//
// The tenant is the account. It is the first column of every key. Row-level
// security shows a transaction only the rows of the account that the transaction
// names. Each transaction runs as the role locket_relay, which owns nothing.
// Numbers that are given out in order (cursors, log numbers, quota) are read and
// written under the lock of the account's row and then of the space's row, always
// in this order.
//
// When a commit returns, it is on the database's disk, unless the server is
// configured otherwise (synchronous_commit).
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

// Role is the role as which the store works. Its login must be a member of the
// role.
const Role = "locket_relay"

// conns is the greatest number of connections if the URL sets no other
// (pool_max_conns).
const conns = 16

// ErrLogin: the login may not work as the role that it needs.
var ErrLogin = errors.New("the login is not a member of the role")

// ErrRole: the role could see more than one account at a time.
var ErrRole = errors.New("the role can see more than one account at a time")

// Store is a [relay.Store] in a PostgreSQL database.
type Store struct {
	pool    *pgxpool.Pool
	objects objects.Objects
	known   directory
	lanes   [lanes]lane
	handed  sync.WaitGroup // leads of lanes that run in the background, on behalf of nobody's call

	closing sync.Once
	closed  error
}

var _ relay.Restorer = (*Store)(nil)

// Open opens the store in a database, whose tables must have this program's
// version. The bytes of blobs are kept in objects. Close also closes the objects.
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
	// pgxpool removes its own settings from the configuration, so the URL is
	// parsed once more to see whether it sets pool_max_conns.
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

// Check returns nil if the database answers, has this program's version and
// separates the tenants, and if the objects answer.
func (s *Store) Check(ctx context.Context) error {
	var version int64
	var above, owns bool
	err := s.pool.QueryRow(ctx, `SELECT (SELECT max(version_id) FROM goose_db_version WHERE is_applied),
		(SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
		(SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = 'deltas'::regclass)`).Scan(&version, &above, &owns)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "42P01", "22023": // no such table, no such role
			return fmt.Errorf("%w: %s", ErrTables, e.Message)
		case "42501": // not permitted
			return fmt.Errorf("%w of %s: %s", ErrLogin, Role, e.Message)
		}
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

// Pool returns how many connections to the database are in use, idle and allowed,
// and how long callers have waited for a connection since Open.
func (s *Store) Pool() (used, idle, most int, waited time.Duration) {
	st := s.pool.Stat()
	return int(st.AcquiredConns()), int(st.IdleConns()), int(st.MaxConns()), st.AcquireDuration()
}

// Close waits for running runs; new ones are refused. It may be called twice.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.handed.Wait()
		s.pool.Close()
		s.closed = s.objects.Close()
	})
	return s.closed
}

// name makes the rows of one account visible until the transaction ends.
const name = "SELECT set_config('locket.account', $1, true)"

func accountText(account relay.AccountID) string { return hex.EncodeToString(account[:]) }

// change runs f in a transaction that sees one account and has locked its row. f
// gets the account, or nil if there is none.
func (s *Store) change(ctx context.Context, what string, account relay.AccountID, f func(pgx.Tx, *relay.Account) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(name, accountText(account))
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

// read runs one query that sees one account, in a single round trip. A batch is a
// transaction of its own.
func (s *Store) read(ctx context.Context, account relay.AccountID, each func(pgx.Rows) error, query string, args ...any) error {
	b := &pgx.Batch{}
	b.Queue(name, accountText(account))
	b.Queue(query, args...)
	res := s.pool.SendBatch(ctx, b)
	_, err := res.Exec()
	if err == nil {
		err = scan(res, each)
	}
	return wrap(errors.Join(err, res.Close()))
}

// list reads the rows of a query about a space: $1 is its account, and $2 the space. A
// space that is not there has none.
func list[T any](ctx context.Context, s *Store, what string, id memory.SpaceID, one pgx.RowToFunc[T], query string, more ...any) (out []T, err error) {
	err = s.of(ctx, id, func(account relay.AccountID) error {
		return s.read(ctx, account, func(r pgx.Rows) error {
			v, err := one(r)
			out = append(out, v)
			return err
		}, query, append([]any{account[:], id[:]}, more...)...)
	})
	if errors.Is(err, relay.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
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

// wrap turns the driver's errors into the relay's errors.
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
	// Sometimes the connection is found to be closed before it is used, or within
	// a transaction.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, pgx.ErrTxClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%w: %w", relay.ErrUnavailable, err)
	}
	return err
}

// maxKnown is how many spaces are remembered with their accounts, about 100 bytes
// each.
const maxKnown = 1 << 16

// directory remembers to which account a space belongs. A deleted space may be
// founded again by another account, so a caller that does not find the space asks
// the database again.
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

// owner returns the account of a space, from memory if it is there.
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

// of runs f with the account of a space. If the remembered account is outdated,
// it runs f again with the right one.
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

// Sweep implements [relay.Store]. If the objects can't be reached, everything
// else is still swept.
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
