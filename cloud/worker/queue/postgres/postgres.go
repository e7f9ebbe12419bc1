// Package postgres keeps a queue's jobs in PostgreSQL, for workers that share
// them. It is a package of its own so that programs which only need SQLite,
// such as the demo, do not contain a PostgreSQL client.
package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/locket-dev/locket/cloud/worker/queue/base"
)

// At opens the database at an address, postgres://USER@HOST/DATABASE. It
// returns nil for an empty address.
func At(address string) base.Opener {
	if address == "" {
		return nil
	}
	return func() (*base.Base, error) { return open(address) }
}

// lockID is the advisory lock for what one process may do at a time. The number
// is arbitrary.
const lockID int64 = 0x6c6f636b6574

func open(address string) (*base.Base, error) {
	c, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the database's address can't be read: want postgres://USER@HOST/DATABASE") // the error itself may contain the password
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
	b.Wipe = func(context.Context) error { return nil }
	b.Close = func() error {
		err := db.Close()
		pool.Close()
		return err
	}
	return b, nil
}
