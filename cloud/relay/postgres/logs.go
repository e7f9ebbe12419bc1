package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

func (s *Store) Space(ctx context.Context, id memory.SpaceID) (head relay.Space, err error) {
	err = s.of(ctx, id, func(account relay.AccountID) error {
		found := false
		err := s.read(ctx, account, func(r pgx.Rows) error {
			found, head.Account = true, account
			return scanHead(r, &head)
		}, selectHead, account[:], id[:])
		if err == nil && !found {
			err = relay.ErrNotFound
		}
		return err
	})
	if err != nil {
		return relay.Space{}, fmt.Errorf("space: %w", err)
	}
	return head, nil
}

const selectHead = "SELECT log_n, log_head, cursor FROM spaces WHERE account = $1 AND space = $2"

func scanHead(r pgx.Row, head *relay.Space) error {
	var logN, cursor int64
	var hash []byte
	err := r.Scan(&logN, &hash, &cursor)
	head.LogN, head.Cursor = uint64(logN), uint64(cursor)
	copy(head.LogHead[:], hash)
	return err
}

// inSpace is change for what needs the head of a space, which has to be there: its row is locked, too.
func (s *Store) inSpace(ctx context.Context, what string, id memory.SpaceID, f func(tx pgx.Tx, a *relay.Account, head relay.Space) error) error {
	return s.of(ctx, id, func(account relay.AccountID) error {
		return s.change(ctx, what, account, func(tx pgx.Tx, a *relay.Account) error {
			if a == nil {
				return relay.ErrNotFound
			}
			head, err := lockSpace(ctx, tx, account, id)
			if err != nil {
				return err
			}
			return f(tx, a, head)
		})
	})
}

// lockSpace locks the row of a space and returns its head. The caller has
// locked the account's row before.
func lockSpace(ctx context.Context, tx pgx.Tx, account relay.AccountID, id memory.SpaceID) (relay.Space, error) {
	head := relay.Space{Account: account}
	return head, notHere(scanHead(tx.QueryRow(ctx, selectHead+" FOR UPDATE", account[:], id[:]), &head))
}

func (s *Store) AppendLog(ctx context.Context, e *envelope.Entry, founding *relay.Founding, quota relay.Quota) error {
	if founding != nil && e.N == 1 {
		_, _, err := s.owner(ctx, e.Space)
		switch {
		case errors.Is(err, relay.ErrNotFound):
			return s.found(ctx, e, founding, quota)
		case err != nil:
			return fmt.Errorf("append log entry: %w", err)
		}
	}
	return s.inSpace(ctx, "append log entry", e.Space, func(tx pgx.Tx, a *relay.Account, head relay.Space) error {
		if founding != nil || head.LogN+1 != e.N || head.LogHead != e.Prev {
			return fmt.Errorf("%w: it is at %d, %s", relay.ErrConflict, head.LogN, head.LogHead)
		}
		return appendEntry(ctx, tx, *a, e, quota)
	})
}

func (s *Store) found(ctx context.Context, e *envelope.Entry, f *relay.Founding, quota relay.Quota) error {
	err := s.change(ctx, "append log entry", f.Account, func(tx pgx.Tx, a *relay.Account) error {
		if a == nil {
			if err := newAccount(ctx, tx, f); err != nil {
				return err
			}
			a = &relay.Account{ID: f.Account}
		}
		// A space id can occur only once in the directory, for all accounts
		// together.
		made, err := tx.Exec(ctx, "INSERT INTO directory VALUES ($1, $2) ON CONFLICT DO NOTHING", e.Space[:], f.Account[:])
		if err != nil {
			return err
		}
		if made.RowsAffected() == 0 {
			return fmt.Errorf("%w: it is founded already", relay.ErrConflict)
		}
		var have int64
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM spaces WHERE account = $1", f.Account[:]).Scan(&have); err != nil {
			return err
		}
		if quota.Spaces > 0 && have >= quota.Spaces {
			return &relay.QuotaError{What: "spaces", Limit: quota.Spaces, Wait: relay.FullWait}
		}
		if _, err := tx.Exec(ctx, "INSERT INTO spaces VALUES ($1, $2, 0, $3, 0)", f.Account[:], e.Space[:], make([]byte, 32)); err != nil {
			return err
		}
		return appendEntry(ctx, tx, *a, e, quota)
	})
	if err == nil {
		s.known.set(e.Space, f.Account)
	}
	return err
}

func appendEntry(ctx context.Context, tx pgx.Tx, a relay.Account, e *envelope.Entry, quota relay.Quota) error {
	wire, hash := e.Bytes(), e.Hash()
	if err := quota.Room(a, int64(len(wire)), 0); err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue("UPDATE accounts SET bytes = bytes + $2 WHERE account = $1", a.ID[:], len(wire))
	b.Queue("INSERT INTO log VALUES ($1, $2, $3, $4)", a.ID[:], e.Space[:], int64(e.N), wire)
	b.Queue("UPDATE spaces SET log_n = $3, log_head = $4 WHERE account = $1 AND space = $2", a.ID[:], e.Space[:], int64(e.N), hash[:])
	return tx.SendBatch(ctx, b).Close()
}

const selectLog = "SELECT entry FROM log WHERE account = $1 AND space = $2 AND n > $3 ORDER BY n LIMIT $4"

func (s *Store) Log(ctx context.Context, id memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	return list(ctx, s, "read log", id, pgx.RowTo[[]byte], selectLog, int64(n), limit)
}

func (s *Store) DeleteSpace(ctx context.Context, id memory.SpaceID) error {
	return s.of(ctx, id, func(account relay.AccountID) error {
		err := s.change(ctx, "delete space", account, func(tx pgx.Tx, _ *relay.Account) error {
			if _, err := lockSpace(ctx, tx, account, id); err != nil {
				return err
			}
			var bytes, blobs int64
			err := tx.QueryRow(ctx, `SELECT (
				(SELECT coalesce(sum(length(entry)), 0) FROM log WHERE account = $1 AND space = $2) +
				(SELECT coalesce(sum(size), 0) FROM deltas WHERE account = $1 AND space = $2) +
				(SELECT coalesce(sum(size), 0) FROM blobs WHERE account = $1 AND space = $2) +
				(SELECT coalesce(sum(length(record)), 0) FROM records WHERE account = $1 AND space = $2))::bigint,
				(SELECT count(*) FROM blobs WHERE account = $1 AND space = $2)`, account[:], id[:]).Scan(&bytes, &blobs)
			if err != nil {
				return err
			}
			if err := use(ctx, tx, account, -bytes, -blobs); err != nil {
				return err
			}
			if err := doom(ctx, tx, "account = $1 AND space = $2", account[:], id[:]); err != nil {
				return err
			}
			for _, table := range []string{"parts", "blobs", "records", "deltas", "log", "spaces", "directory"} {
				if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE account = $1 AND space = $2", account[:], id[:]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.known.drop(id)
		return s.removeDoomed(ctx, account, &id)
	})
}
