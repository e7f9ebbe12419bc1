package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/locket-dev/locket/cloud/relay/migrate"
)

// ErrTables: the database has not the tables that this program works on.
var ErrTables = errors.New("the tables are of another version")

//go:embed migrations/*.sql
var files embed.FS

// latest is this program's version.
func latest() (int64, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	return int64(len(names)), err
}

// Migrations are the versions of the tables, in one database. Close ends it.
type Migrations struct {
	*migrate.Migrator
	db *sql.DB
}

// Migrate opens a database to lead its tables to another version, as a login
// that may make tables and roles. Relays may serve it meanwhile where the
// step's file says so.
func Migrate(url string) (*Migrations, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	m, err := migrate.Postgres(db, sub)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Migrations{m, db}, nil
}

// Up takes every step that is left.
func (m *Migrations) Up(ctx context.Context) ([]migrate.Step, error) {
	done, err := m.Migrator.Up(ctx)
	return done, wrap(err)
}

// Close ends it.
func (m *Migrations) Close() error { return m.db.Close() }
