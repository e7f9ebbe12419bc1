// Package migrate changes the tables of a store from one version to the next,
// and back. A version is a SQL file with both directions. Versions are numbered
// from 1, and a released file never changes. Each step is a transaction of its
// own.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"
)

// Callers can distinguish these errors.
var (
	ErrNewer   = errors.New("the tables are newer than this program")
	ErrPending = errors.New("the tables are older than this program")
	ErrBottom  = errors.New("there is no earlier version that keeps the data")
)

// Table is the name of the table that records the steps that were taken.
const Table = "goose_db_version"

// Step is one version.
type Step struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`    // name of its file
	Applied bool   `json:"applied"` // whether it is applied after the call
}

// Migrator works on one database. It is not safe for concurrent use. Two
// processes that use one PostgreSQL database wait for each other.
type Migrator struct {
	provider *goose.Provider
}

// SQLite returns a migrator for a SQLite database.
func SQLite(db *sql.DB, files fs.FS) (*Migrator, error) {
	return open(goose.DialectSQLite3, db, files)
}

// Postgres returns a migrator for a PostgreSQL database.
func Postgres(db *sql.DB, files fs.FS) (*Migrator, error) {
	one, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return open(goose.DialectPostgres, db, files, goose.WithSessionLocker(one))
}

func open(dialect goose.Dialect, db *sql.DB, files fs.FS, options ...goose.ProviderOption) (*Migrator, error) {
	p, err := goose.NewProvider(dialect, db, files, append(options, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))...)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return &Migrator{p}, nil
}

// Check returns the version of the tables, and an error if it is not the one
// that this program needs.
func (m *Migrator) Check(ctx context.Context) (int64, error) {
	have, want, err := m.provider.GetVersions(ctx)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read version of tables: %w", err)
	case have > want:
		return have, fmt.Errorf("%w: version %d, this program knows %d", ErrNewer, have, want)
	case have < want:
		return have, fmt.Errorf("%w: version %d, this program needs %d", ErrPending, have, want)
	}
	return have, nil
}

// Up takes every remaining step.
func (m *Migrator) Up(ctx context.Context) ([]Step, error) {
	if _, err := m.Check(ctx); errors.Is(err, ErrNewer) {
		return nil, err
	}
	done, err := m.provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate up: %w", err)
	}
	var out []Step
	for _, r := range done {
		out = append(out, Step{Version: r.Source.Version, Name: name(r.Source), Applied: true})
	}
	return out, nil
}

// Down reverts the last step. It reverts the first step only if destroy is
// true, because that deletes everything.
func (m *Migrator) Down(ctx context.Context, destroy bool) (Step, error) {
	have, err := m.Check(ctx)
	if err != nil && !errors.Is(err, ErrPending) {
		return Step{}, err
	}
	if have == 0 || have == 1 && !destroy {
		return Step{}, fmt.Errorf("migrate down: %w: version %d", ErrBottom, have)
	}
	r, err := m.provider.Down(ctx)
	if err != nil {
		return Step{}, fmt.Errorf("migrate down: %w", err)
	}
	return Step{Version: r.Source.Version, Name: name(r.Source)}, nil
}

// Status lists every step that this program knows.
func (m *Migrator) Status(ctx context.Context) ([]Step, error) {
	all, err := m.provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	var out []Step
	for _, s := range all {
		out = append(out, Step{Version: s.Source.Version, Name: name(s.Source), Applied: s.State == goose.StateApplied})
	}
	return out, nil
}

func name(s *goose.Source) string { return s.Path }

// Adopt records that the steps up to a version were taken. It is for tables
// that were made before steps were recorded.
func Adopt(ctx context.Context, tx *sql.Tx, version int64) error {
	store, err := database.NewStore(database.DialectSQLite3, Table)
	if err != nil {
		return err
	}
	if err := store.CreateVersionTable(ctx, tx); err != nil {
		return err
	}
	for v := range version + 1 {
		if err := store.Insert(ctx, tx, database.InsertRequest{Version: v}); err != nil {
			return err
		}
	}
	return nil
}
