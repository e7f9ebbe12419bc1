package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (s *Store) Space(ctx context.Context, id memory.SpaceID) (relay.Space, error) {
	head, err := space(ctx, s.read, id)
	if err != nil {
		return relay.Space{}, fmt.Errorf("space: %w", err)
	}
	return head, nil
}

// inSpace is change for what needs the head of a space, which has to be there.
func (s *Store) inSpace(ctx context.Context, what string, id memory.SpaceID, f func(context.Context, *sql.Tx, relay.Space) error) error {
	return s.change(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		head, err := space(ctx, tx, id)
		if err != nil {
			return err
		}
		return f(ctx, tx, head)
	})
}

func space(ctx context.Context, q querier, id memory.SpaceID) (relay.Space, error) {
	var head relay.Space
	var account, hash []byte
	err := q.QueryRowContext(ctx, "SELECT account, log_n, log_head, cursor FROM spaces WHERE id = ?", id[:]).
		Scan(&account, &head.LogN, &hash, &head.Cursor)
	copy(head.Account[:], account)
	copy(head.LogHead[:], hash)
	return head, found(err)
}

func (s *Store) AppendLog(ctx context.Context, e *envelope.Entry, founding *relay.Founding, quota relay.Quota) error {
	wire, hash := e.Bytes(), e.Hash()
	return s.change(ctx, "append log entry", func(ctx context.Context, tx *sql.Tx) error {
		head, err := space(ctx, tx, e.Space)
		switch {
		case errors.Is(err, relay.ErrNotFound) && founding != nil && e.N == 1:
			if err := foundSpace(ctx, tx, e.Space, founding, quota); err != nil {
				return err
			}
			head = relay.Space{Account: founding.Account}
		case err != nil:
			return err
		case founding != nil || head.LogN+1 != e.N || head.LogHead != e.Prev:
			return fmt.Errorf("%w: it is at %d, %s", relay.ErrConflict, head.LogN, head.LogHead)
		}
		if err := spend(ctx, tx, head.Account, quota, int64(len(wire)), 0); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO log VALUES (?, ?, ?)", e.Space[:], e.N, wire); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE spaces SET log_n = ?, log_head = ? WHERE id = ?", e.N, hash[:], e.Space[:])
		return err
	})
}

func foundSpace(ctx context.Context, tx *sql.Tx, id memory.SpaceID, f *relay.Founding, quota relay.Quota) error {
	_, err := account(ctx, tx, f.Account)
	if errors.Is(err, relay.ErrNotFound) {
		err = newAccount(ctx, tx, f)
	}
	if err != nil {
		return err
	}
	var have int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM spaces WHERE account = ?", f.Account[:]).Scan(&have); err != nil {
		return err
	}
	if quota.Spaces > 0 && have >= quota.Spaces {
		return &relay.QuotaError{What: "spaces", Limit: quota.Spaces, Wait: relay.FullWait}
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO spaces VALUES (?, ?, 0, ?, 0)", id[:], f.Account[:], make([]byte, 32))
	return err
}

// spend checks that an account has room, and adds to its usage.
func spend(ctx context.Context, tx *sql.Tx, id relay.AccountID, quota relay.Quota, bytes, blobs int64) error {
	a, err := account(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := quota.Room(a, bytes, blobs); err != nil {
		return err
	}
	return use(ctx, tx, id, bytes, blobs)
}

func (s *Store) Log(ctx context.Context, id memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	return readLog(ctx, s.read, id, n, limit)
}

func readLog(ctx context.Context, q querier, id memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	out, err := column(ctx, q, "SELECT entry FROM log WHERE space = ? AND n > ? ORDER BY n LIMIT ?", id[:], n, limit)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return out, nil
}

func (s *Store) DeleteSpace(ctx context.Context, id memory.SpaceID) error {
	err := s.inSpace(ctx, "delete space", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		var bytes, blobs int64
		err := tx.QueryRowContext(ctx, `SELECT
			(SELECT coalesce(sum(length(entry)), 0) FROM log WHERE space = ?1) +
			(SELECT coalesce(sum(size), 0) FROM deltas WHERE space = ?1) +
			(SELECT coalesce(sum(size), 0) FROM blobs WHERE space = ?1) +
			(SELECT coalesce(sum(length(record)), 0) FROM records WHERE space = ?1),
			(SELECT count(*) FROM blobs WHERE space = ?1)`, id[:]).Scan(&bytes, &blobs)
		if err != nil {
			return err
		}
		if err := use(ctx, tx, head.Account, -bytes, -blobs); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM spaces WHERE id = ?", id[:])
		return err
	})
	if err != nil {
		return err
	}
	return s.removeFolder(id)
}
