package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
)

func (s *Store) Account(ctx context.Context, id relay.AccountID) (relay.Account, error) {
	tx, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return relay.Account{}, fmt.Errorf("account: %w", err)
	}
	defer tx.Rollback() // this transaction only reads
	return readAccount(ctx, tx, id)
}

// readAccount returns an account with its spaces.
func readAccount(ctx context.Context, tx *sql.Tx, id relay.AccountID) (relay.Account, error) {
	a, err := account(ctx, tx, id)
	if err != nil {
		return relay.Account{}, fmt.Errorf("account: %w", err)
	}
	ids, err := column(ctx, tx, "SELECT id FROM spaces WHERE account = ? ORDER BY id", id[:])
	if err != nil {
		return relay.Account{}, fmt.Errorf("account: %w", err)
	}
	for _, b := range ids {
		var space memory.SpaceID
		copy(space[:], b)
		a.Spaces = append(a.Spaces, space)
	}
	return a, nil
}

func account(ctx context.Context, tx *sql.Tx, id relay.AccountID) (relay.Account, error) {
	a := relay.Account{ID: id}
	err := tx.QueryRowContext(ctx, "SELECT bytes, blobs, day, deltas FROM accounts WHERE id = ?", id[:]).
		Scan(&a.Bytes, &a.Blobs, &a.Day, &a.Deltas)
	return a, found(err)
}

// use adds to an account's usage; the numbers are negative if something is
// removed.
func use(ctx context.Context, tx *sql.Tx, id relay.AccountID, bytes, blobs int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE accounts SET bytes = bytes + ?, blobs = blobs + ? WHERE id = ?", bytes, blobs, id[:])
	return err
}

// newAccount makes an account. If an invitation is needed, it uses that up.
func newAccount(ctx context.Context, tx *sql.Tx, f *relay.Founding) error {
	if f.Needed && f.Invite == nil {
		return relay.ErrInvite
	}
	if f.Needed {
		n, err := affected(tx.ExecContext(ctx, "UPDATE invites SET used = 1 WHERE hash = ? AND used = 0", f.Invite[:]))
		if err == nil && n == 0 {
			err = relay.ErrInvite
		}
		if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO accounts VALUES (?, 0, 0, 0, 0)", f.Account[:])
	return err
}

func (s *Store) DeleteAccount(ctx context.Context, id relay.AccountID) error {
	a, err := s.Account(ctx, id)
	if err != nil {
		return err
	}
	for _, space := range a.Spaces {
		if err := s.DeleteSpace(ctx, space); err != nil {
			return err
		}
	}
	return s.change(ctx, "delete account", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM accounts WHERE id = ?", id[:])
		return err
	})
}

func (s *Store) AddInvite(ctx context.Context, hash [32]byte) error {
	return s.change(ctx, "add invitation", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO invites VALUES (?, 0) ON CONFLICT DO NOTHING", hash[:])
		return err
	})
}

func (s *Store) Once(ctx context.Context, id [16]byte, until time.Time) (fresh bool, err error) {
	err = s.change(ctx, "note request", func(ctx context.Context, tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, "INSERT INTO nonces VALUES (?, ?) ON CONFLICT DO NOTHING", id[:], until.Unix()))
		fresh = n > 0
		return err
	})
	return fresh, err
}

func (s *Store) RestoreAccount(ctx context.Context, id relay.AccountID) error {
	return s.change(ctx, "restore account", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO accounts VALUES (?, 0, 0, 0, 0) ON CONFLICT DO NOTHING", id[:])
		return err
	})
}

func (s *Store) RestoreInvite(ctx context.Context, i relay.Invite) error {
	return s.change(ctx, "restore invitation", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO invites VALUES (?, ?) ON CONFLICT DO UPDATE SET used = max(used, excluded.used)", i.Hash[:], i.Used)
		return err
	})
}
