// Package postgres opens a market's database in PostgreSQL. It is separate from package tables so
// that programs that only need SQLite do not link a PostgreSQL client.
package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/locket-dev/locket/cloud/market/tables"
)

// Schema holds the tables. A relay may keep its own in the same database.
const Schema = "market"

// conns is how many connections one process uses at most.
const conns = 16

// Open opens the database at postgres://USER@HOST/DATABASE, creates the schema if needed, and
// migrates its tables to this program's version.
func Open(ctx context.Context, url string) (*tables.DB, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database's address can't be read: want postgres://USER@HOST/DATABASE") // it may hold a password
	}
	c.RuntimeParams["application_name"] = "locket-cloud"
	c.RuntimeParams["search_path"] = Schema
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	// IF NOT EXISTS alone would let one of two simultaneous processes fail on the catalogue's
	// index.
	if _, err := db.ExecContext(ctx, `DO $$ BEGIN CREATE SCHEMA IF NOT EXISTS `+Schema+`; EXCEPTION WHEN unique_violation THEN NULL; END $$`); err != nil {
		return nil, errors.Join(fmt.Errorf("open market: %w", err), db.Close())
	}
	d, err := tables.On(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("open market: %w", err)
	}
	return d, nil
}
