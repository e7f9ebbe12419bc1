package embedded

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/locket-dev/locket/cloud/relay/migrate"
	"github.com/locket-dev/locket/internal/filelock"
)

// The tables are in migrations/. PRAGMA user_version repeats their version,
// because older programs, which look only at it, then refuse newer tables.
//
//go:embed migrations/*.sql
var files embed.FS

// latest returns the version of the tables that this program needs.
func latest() (int64, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	return int64(len(names)), err
}

// Migrations are the steps between the versions of the tables, for one folder.
type Migrations struct {
	db      *sql.DB
	lock    *filelock.Lock
	version *migrate.Migrator
}

// Migrate opens the tables of a folder, which no process may be serving, so
// that they can be changed to another version. The caller must call Close.
func Migrate(ctx context.Context, dir string) (*Migrations, error) {
	held, err := filelock.Take(filepath.Join(dir, "relay.lock"))
	if err != nil {
		return nil, fmt.Errorf("open relay store %s: %w", dir, err)
	}
	db, err := open(filepath.Join(dir, "relay.db"), "immediate", 1)
	if err != nil {
		return nil, errors.Join(err, held.Release())
	}
	m, err := migrations(ctx, db)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open relay store %s: %w", dir, err), db.Close(), held.Release())
	}
	m.lock = held
	return m, nil
}

func migrations(ctx context.Context, db *sql.DB) (*Migrations, error) {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		return nil, err
	}
	if err := adopt(ctx, db); err != nil {
		return nil, err
	}
	v, err := migrate.SQLite(db, sub)
	if err != nil {
		return nil, err
	}
	return &Migrations{db: db, version: v}, nil
}

// adopt records the version of tables that have it only in user_version.
func adopt(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after Commit
	var have, known int64
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = ?", migrate.Table).Scan(&known); err != nil {
		return err
	}
	want, err := latest()
	if err != nil {
		return err
	}
	if have > want {
		return fmt.Errorf("%w: version %d, this program knows %d", migrate.ErrNewer, have, want)
	}
	if known > 0 || have == 0 {
		return nil
	}
	if err := migrate.Adopt(ctx, tx, have); err != nil {
		return err
	}
	return tx.Commit()
}

// Up takes every remaining step.
func (m *Migrations) Up(ctx context.Context) ([]migrate.Step, error) {
	done, err := m.version.Up(ctx)
	return done, errors.Join(err, m.repeat(ctx))
}

// Down reverts the last step, like [migrate.Migrator.Down].
func (m *Migrations) Down(ctx context.Context, destroy bool) (migrate.Step, error) {
	done, err := m.version.Down(ctx, destroy)
	return done, errors.Join(err, m.repeat(ctx))
}

// Status lists the steps.
func (m *Migrations) Status(ctx context.Context) ([]migrate.Step, error) {
	return m.version.Status(ctx)
}

// Close closes the folder.
func (m *Migrations) Close() error { return errors.Join(m.db.Close(), m.lock.Release()) }

// repeat writes the version to user_version.
func (m *Migrations) repeat(ctx context.Context) error {
	v, err := m.version.Check(ctx)
	if err != nil && !errors.Is(err, migrate.ErrPending) {
		return nil // user_version has it already
	}
	_, err = m.db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v))
	return err
}
