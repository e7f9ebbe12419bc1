// Package tables has a market's tables, in SQLite and in PostgreSQL. The two differ in their
// migrations and in what a [Dialect] returns; every query is written once, with parameters as $1,
// which both accept.
//
// The migrations are numbered across everything that a market stores: 1 to 9 are money and the
// transparency log, 10 and up listings and orders, and later additions.
package tables

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/locket-dev/locket/cloud/relay/migrate"
	"github.com/locket-dev/locket/internal/filelock"
)

// Dialect names the kind of database.
type Dialect int

// The databases.
const (
	SQLite Dialect = iota
	Postgres
)

// Lock is the end of a SELECT whose rows no other transaction may change before this one ends. In
// SQLite, a writing transaction has the database for itself.
func (d Dialect) Lock() string {
	if d == Postgres {
		return " FOR UPDATE"
	}
	return ""
}

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// readers is how many connections read a SQLite database, in addition to the one that writes.
const readers = 4

// DB is the database of a market. It is safe for concurrent use.
type DB struct {
	Dialect Dialect

	write, read *sql.DB // in PostgreSQL both are the same
	lock        *filelock.Lock
}

// Open opens the file market.db in an existing folder, and migrates its tables to this program's
// version. A second process is refused.
func Open(ctx context.Context, dir string) (*DB, error) {
	held, err := filelock.Take(filepath.Join(dir, "market.lock"))
	if err != nil {
		return nil, fmt.Errorf("open market %s: %w", dir, err)
	}
	d := &DB{Dialect: SQLite, lock: held}
	path := filepath.Join(dir, "market.db")
	if d.write, err = file(path, "immediate", 1); err != nil {
		return nil, errors.Join(err, held.Release())
	}
	if d.read, err = file(path, "deferred", readers); err != nil {
		return nil, errors.Join(err, d.write.Close(), held.Release())
	}
	if err := d.up(ctx, "sqlite", migrate.SQLite); err != nil {
		return nil, errors.Join(fmt.Errorf("open market %s: %w", dir, err), d.Close())
	}
	return d, nil
}

func file(path, lock string, conns int) (*sql.DB, error) {
	q := url.Values{"_txlock": {lock}, "_pragma": {"busy_timeout(10000)", "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)", "recursive_triggers(on)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open market %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// On takes over a PostgreSQL database and migrates its tables to this program's version; processes
// that open it at once wait for each other. Package cloud/market/postgres makes the connections.
// The DB closes db.
func On(ctx context.Context, db *sql.DB) (*DB, error) {
	d := &DB{Dialect: Postgres, write: db, read: db}
	if err := d.up(ctx, "postgres", migrate.Postgres); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}

func (d *DB) up(ctx context.Context, dir string, migrator func(*sql.DB, fs.FS) (*migrate.Migrator, error)) error {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		return err
	}
	m, err := migrator(d.write, sub)
	if err != nil {
		return err
	}
	_, err = m.Up(ctx)
	return err
}

// Change runs f in a transaction that may write, and commits if f returns no error. The changes are
// durable when Change returns.
func (d *DB) Change(ctx context.Context, f func(*sql.Tx) error) error {
	return run(ctx, d.write, f, nil)
}

// Read runs f in a transaction that only reads, and sees one state of the
// database.
func (d *DB) Read(ctx context.Context, f func(*sql.Tx) error) error {
	o := &sql.TxOptions{ReadOnly: true}
	if d.Dialect == Postgres {
		o.Isolation = sql.LevelRepeatableRead
	}
	return run(ctx, d.read, f, o)
}

// Collect reads the rows of a query; into returns the destinations of a row's columns.
func Collect[T any](ctx context.Context, tx *sql.Tx, into func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var one T
		if err := rows.Scan(into(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// Column reads the rows of a query of one column.
func Column[T any](ctx context.Context, tx *sql.Tx, query string, args ...any) ([]T, error) {
	return Collect(ctx, tx, func(v *T) []any { return []any{v} }, query, args...)
}

// Affected returns how many rows a statement has changed.
func Affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func run(ctx context.Context, db *sql.DB, f func(*sql.Tx) error, o *sql.TxOptions) error {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer tx.Rollback() // no effect after Commit
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Close closes the database. It must not be used any more.
func (d *DB) Close() error {
	err := d.write.Close()
	if d.read != d.write {
		err = errors.Join(err, d.read.Close())
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Release())
	}
	return err
}
