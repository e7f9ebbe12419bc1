package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
)

func (s *Store) Account(ctx context.Context, id relay.AccountID) (relay.Account, error) {
	a, found := relay.Account{ID: id}, false
	err := s.read(ctx, id, func(r pgx.Rows) error {
		found = true
		var spaces [][]byte
		if err := r.Scan(&a.Bytes, &a.Blobs, &a.Day, &a.Deltas, &spaces); err != nil {
			return err
		}
		for _, b := range spaces {
			var space memory.SpaceID
			copy(space[:], b)
			a.Spaces = append(a.Spaces, space)
		}
		return nil
	}, `SELECT bytes, blobs, day, deltas, ARRAY(SELECT space FROM spaces WHERE account = $1 ORDER BY space) FROM accounts WHERE account = $1`, id[:])
	if err == nil && !found {
		err = relay.ErrNotFound
	}
	if err != nil {
		return relay.Account{}, fmt.Errorf("account: %w", err)
	}
	return a, nil
}

// use adds to an account's usage; the numbers are negative if something is
// removed.
func use(ctx context.Context, tx pgx.Tx, id relay.AccountID, bytes, blobs int64) error {
	_, err := tx.Exec(ctx, "UPDATE accounts SET bytes = bytes + $2, blobs = blobs + $3 WHERE account = $1", id[:], bytes, blobs)
	return err
}

// newAccount makes an account. If an invitation is needed, it uses that up.
// If another transaction is making the same account, newAccount waits for it,
// and then finds the account.
func newAccount(ctx context.Context, tx pgx.Tx, f *relay.Founding) error {
	made, err := tx.Exec(ctx, "INSERT INTO accounts VALUES ($1, 0, 0, 0, 0) ON CONFLICT DO NOTHING", f.Account[:])
	if err != nil || made.RowsAffected() == 0 || !f.Needed {
		return err
	}
	if f.Invite == nil {
		return relay.ErrInvite
	}
	used, err := tx.Exec(ctx, "UPDATE invites SET used = true WHERE hash = $1 AND NOT used", f.Invite[:])
	if err == nil && used.RowsAffected() == 0 {
		err = relay.ErrInvite
	}
	return err
}

func (s *Store) DeleteAccount(ctx context.Context, id relay.AccountID) error {
	a, err := s.Account(ctx, id)
	if err != nil {
		return err
	}
	err = s.change(ctx, "delete account", id, func(tx pgx.Tx, a *relay.Account) error {
		if a == nil {
			return relay.ErrNotFound
		}
		if err := doom(ctx, tx, "account = $1", id[:]); err != nil {
			return err
		}
		for _, table := range []string{"parts", "blobs", "records", "deltas", "log", "spaces", "directory", "accounts"} {
			if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE account = $1", id[:]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, space := range a.Spaces {
		s.known.drop(space)
	}
	return s.removeDoomed(ctx, id, nil)
}

func (s *Store) AddInvite(ctx context.Context, hash [32]byte) error {
	if _, err := s.pool.Exec(ctx, "INSERT INTO invites VALUES ($1, false) ON CONFLICT DO NOTHING", hash[:]); err != nil {
		return fmt.Errorf("add invitation: %w", wrap(err))
	}
	return nil
}

func (s *Store) Once(ctx context.Context, id [16]byte, until time.Time) (bool, error) {
	made, err := s.pool.Exec(ctx, "INSERT INTO nonces VALUES ($1, $2) ON CONFLICT DO NOTHING", id[:], until.Unix())
	if err != nil {
		return false, fmt.Errorf("note request: %w", wrap(err))
	}
	return made.RowsAffected() > 0, nil
}

func (s *Store) RestoreAccount(ctx context.Context, id relay.AccountID) error {
	return s.change(ctx, "restore account", id, func(tx pgx.Tx, _ *relay.Account) error {
		return newAccount(ctx, tx, &relay.Founding{Account: id})
	})
}

func (s *Store) RestoreInvite(ctx context.Context, i relay.Invite) error {
	if _, err := s.pool.Exec(ctx, "INSERT INTO invites VALUES ($1, $2) ON CONFLICT (hash) DO UPDATE SET used = invites.used OR excluded.used", i.Hash[:], i.Used); err != nil {
		return fmt.Errorf("restore invitation: %w", wrap(err))
	}
	return nil
}
