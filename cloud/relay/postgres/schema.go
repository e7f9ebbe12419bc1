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

// ErrTables: the database's tables do not have the version that this program
// needs.
var ErrTables = errors.New("the tables are of another version")

//go:embed migrations/*.sql
var files embed.FS

// latest returns the version of the tables that this program needs.
func latest() (int64, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	return int64(len(names)), err
}

// Migrations are the steps between the versions of the tables, in one
// database.
type Migrations struct {
	*migrate.Migrator
	db *sql.DB
}

// Migrate opens a database so that its tables can be changed to another
// version. The login must be allowed to make tables and roles. Relays may
// serve the database meanwhile if the file of the step says so. The caller
// must call Close.
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

// Up takes every remaining step.
func (m *Migrations) Up(ctx context.Context) ([]migrate.Step, error) {
	done, err := m.Migrator.Up(ctx)
	return done, wrap(err)
}

// Close closes the connection.
func (m *Migrations) Close() error { return m.db.Close() }
