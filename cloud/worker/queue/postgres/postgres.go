// Package postgres keeps the jobs of a queue in PostgreSQL, for workers that
// share them. It is apart from package queue so that what only needs SQLite,
// such as the demo, links no client of PostgreSQL.
package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/locket-dev/locket/cloud/worker/queue/base"
)

// At opens the database at an address, postgres://USER@HOST/DATABASE. It is nil
// for an empty one.
func At(address string) base.Opener {
	if address == "" {
		return nil
	}
	return func() (*base.Base, error) { return open(address) }
}

// lockID is the advisory lock of what one process does at a time. Chosen here.
const lockID = 0x6c6f636b6574

func open(address string) (*base.Base, error) {
	c, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the database's address can't be read: want postgres://USER@HOST/DATABASE") // it may hold a password
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), c)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDBFromPool(pool)
	b := base.On(db, riverpgxv5.New(pool))
	b.Shared = true
	b.Locked = func(ctx context.Context, do func() error) error {
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
	b.Wiped = func(context.Context) error { return nil }
	b.Close = func() error {
		err := db.Close()
		pool.Close()
		return err
	}
	return b, nil
}
