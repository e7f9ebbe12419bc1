package queue

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"

	"github.com/riverqueue/river/riverdriver/riversqlite"

	_ "modernc.org/sqlite" // the driver

	"github.com/locket-dev/locket/cloud/worker/queue/base"
)

// openSQLite opens a file that only one worker uses. A power failure may lose
// the last commits; those jobs are done again.
func openSQLite(file string, mustExist bool) (*base.Base, error) {
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
	db.SetMaxOpenConns(1) // as River requires for SQLite
	b := base.On(db, riversqlite.New(db))
	b.Locked = func(_ context.Context, do func() error) error { return do() }
	b.Wipe = func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		return err
	}
	b.Close = db.Close
	return b, nil
}
