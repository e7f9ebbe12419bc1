package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	_ "modernc.org/sqlite" // the driver
)

// ours are the tables beside River's. Times are ms since 1970.
const ours = `
CREATE TABLE IF NOT EXISTS locket_worker (
	name TEXT NOT NULL, space TEXT NOT NULL, until BIGINT NOT NULL,
	PRIMARY KEY (name, space)
);
CREATE TABLE IF NOT EXISTS locket_spent (
	space TEXT NOT NULL, day TEXT NOT NULL, tokens BIGINT NOT NULL, micro_usd BIGINT NOT NULL,
	PRIMARY KEY (space, day)
);`

// openSQLite opens a file that one worker has. What is committed may be lost
// where the power goes, and is done again then.
func openSQLite(file string, mustExist bool) (*base, error) {
	if mustExist {
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	query := "_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=secure_delete(on)&_txlock=immediate"
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: query}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // as River asks for with SQLite
	b := onDriver(db, riversqlite.New(db))
	b.locked = func(_ context.Context, do func() error) error { return do() }
	b.wiped = func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		return err
	}
	b.close = db.Close
	return b, nil
}

// lockID is the advisory lock of what one process does at a time. Chosen here.
const lockID = 0x6c6f636b6574

func openPostgres(address string) (*base, error) {
	c, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the database's address can't be read: want postgres://USER@HOST/DATABASE") // it may hold a password
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), c)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDBFromPool(pool)
	b := onDriver(db, riverpgxv5.New(pool))
	b.shared = true
	b.locked = func(ctx context.Context, do func() error) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, lockID); err != nil {
			return err
		}
		err = do()
		_, unlock := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, lockID)
		return errors.Join(err, unlock)
	}
	b.wiped = func(context.Context) error { return nil }
	b.close = func() error {
		err := db.Close()
		pool.Close()
		return err
	}
	return b, nil
}

// onDriver makes what both have in common.
func onDriver[Tx any](db *sql.DB, driver riverdriver.Driver[Tx]) *base {
	return &base{
		db:       db,
		executor: driver.GetExecutor(),
		client:   func(c *river.Config) (client, error) { return river.NewClient(driver, c) },
		migrate: func(ctx context.Context) error {
			m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet(discard)})
			if err != nil {
				return err
			}
			if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
				return fmt.Errorf("make its tables: %w", err)
			}
			_, err = db.ExecContext(ctx, ours)
			return err
		},
	}
}
