// Package embedded is the relay's store for a single machine, without a database
// service: a SQLite database for small data, and a folder for blobs.
//
// FORMAT of the folder
//
//	relay.lock                 held while a process serves
//	relay.db, -wal, -shm       the tables of migrations/
//	blobs/SPACE/ID             a finished blob: its sealed bytes, as they came
//	blobs/SPACE/ID.part        an unfinished blob: its first bytes; the table says
//	                           how many of them count
//
// SPACE is the 26 characters of a space, ID the 64 hexadecimal characters of the
// SHA-256 of the bytes. No other part of a name from outside becomes part of a
// path.
//
// One connection writes, in WAL mode with synchronous=FULL: when a commit returns,
// it is on the disk. Changes that come at the same time share a transaction.
// Deleted data is overwritten with zeros in the database (secure_delete), and each
// sweep truncates the write-ahead log.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"modernc.org/sqlite" // and the driver "sqlite"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/filelock"
)

// readers is the number of read connections, besides the one that writes.
const readers = 4

// Store is a [relay.Store] in a folder.
type Store struct {
	write *sql.DB // one connection
	read  *sql.DB
	blobs string
	lock  *filelock.Lock
	locks locks
	group group

	closing sync.Once
	closed  error
}

var _ relay.Restorer = (*Store)(nil)

// Open opens the store in dir, and makes it if there is none. Only the folder's owner can read it. Open returns an
// error if another process uses the folder.
func Open(ctx context.Context, dir string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "blobs"), 0o700); err != nil {
		return nil, fmt.Errorf("open relay store: %w", err)
	}
	path := filepath.Join(dir, "relay.db")
	held, err := filelock.Take(filepath.Join(dir, "relay.lock"))
	if err != nil {
		return nil, fmt.Errorf("open relay store %s: %w", dir, err)
	}
	s := &Store{blobs: filepath.Join(dir, "blobs"), lock: held}
	if s.write, err = open(path, "immediate", 1); err != nil {
		return nil, errors.Join(err, held.Release())
	}
	tables, err := migrations(ctx, s.write)
	if err == nil {
		_, err = tables.Up(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open relay store %s: %w", path, err), s.write.Close(), held.Release())
	}
	if s.read, err = open(path, "deferred", readers); err != nil {
		return nil, errors.Join(err, s.write.Close(), held.Release())
	}
	return s, nil
}

func open(path, lock string, conns int) (*sql.DB, error) {
	q := url.Values{"_txlock": {lock}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)",
		"secure_delete(on)", "cache_size(-4096)", "journal_size_limit(16777216)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open relay store %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// Check reports whether the database answers and the folder exists.
func (s *Store) Check(ctx context.Context) error {
	var n int
	if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM accounts LIMIT 1)").Scan(&n); err != nil {
		return fmt.Errorf("check relay store: %w", err)
	}
	if _, err := os.Stat(s.blobs); err != nil {
		return fmt.Errorf("check relay store: %w", err)
	}
	return nil
}

// Close waits for running changes; new ones are refused. It may be called twice.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.group.handed.Wait()
		s.closed = errors.Join(s.read.Close(), s.write.Close(), s.lock.Release())
	})
	return s.closed
}

// full reports whether err means that the disk is full.
func full(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqliteFull || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", relay.ErrFull, err)
	}
	return err
}

// sqliteFull is SQLITE_FULL (sqlite.org/rescode.html).
const sqliteFull = 13

// affected gives how many rows a statement has changed.
func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// found turns the driver's error for a missing row into [relay.ErrNotFound].
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return relay.ErrNotFound
	}
	return err
}

func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	if err := s.sweepBlobs(ctx, now); err != nil {
		return err
	}
	err := s.change(ctx, "sweep", func(ctx context.Context, tx *sql.Tx) error {
		for _, table := range []string{"mailboxes", "nonces"} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE until <= ?", now.Unix()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("sweep: cut the log of writes: %w", err)
	}
	return nil
}
