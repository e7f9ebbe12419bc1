// Package base is a database for jobs: River's tables, and Locket's own beside
// them. Package queue opens SQLite databases, package postgres PostgreSQL ones,
// which only a server with many workers needs.
package base

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// ours are Locket's tables beside River's. Times are in ms since 1970.
const ours = `
CREATE TABLE IF NOT EXISTS locket_worker (
	name TEXT NOT NULL, space TEXT NOT NULL, until BIGINT NOT NULL,
	PRIMARY KEY (name, space)
);
CREATE TABLE IF NOT EXISTS locket_spent (
	space TEXT NOT NULL, day TEXT NOT NULL, tokens BIGINT NOT NULL, micro_usd BIGINT NOT NULL,
	PRIMARY KEY (space, day)
);`

// Client has the methods of River's client that are used, independent of the
// type of its transactions.
type Client interface {
	Start(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
	Queues() *river.QueueBundle
	InsertMany(ctx context.Context, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error)
	JobGet(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobList(ctx context.Context, params *river.JobListParams) (*river.JobListResult, error)
	JobRetry(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobCancel(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobUpdate(ctx context.Context, id int64, params *river.JobUpdateParams) (*rivertype.JobRow, error)
}

// Base is a database with River's tables and Locket's.
type Base struct {
	DB       *sql.DB
	Executor riverdriver.Executor
	Client   func(*river.Config) (Client, error)
	Migrate  func(context.Context) error
	Locked   func(context.Context, func() error) error // runs a function in one process at a time
	Wipe     func(context.Context) error               // makes sure that nothing of the deleted data is left
	Shared   bool                                      // several workers have it open
	Close    func() error
}

// Opener opens a database. It does not connect yet.
type Opener func() (*Base, error)

// On makes what all databases have in common, for a River driver on db.
func On[Tx any](db *sql.DB, driver riverdriver.Driver[Tx]) *Base {
	return &Base{
		DB:       db,
		Executor: driver.GetExecutor(),
		Client:   func(c *river.Config) (Client, error) { return river.NewClient(driver, c) },
		Migrate: func(ctx context.Context) error {
			m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
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
