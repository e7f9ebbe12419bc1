package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
)

// maxMailboxes limits how many messages strangers can leave here at a time.
const maxMailboxes = 50_000 // 400 MB at most

func (s *Store) Post(ctx context.Context, id relay.MailboxID, message []byte, now, until time.Time) (n int, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// An advisory lock of the id makes sure that only one transaction
		// writes to a mailbox. A row lock would not do, because there may be
		// no row yet.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(binary.BigEndian.Uint64(id[:8]))); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM mailboxes WHERE id = $1 AND until <= $2", id[:], now.Unix()); err != nil {
			return err
		}
		// This deletes expired messages of other mailboxes: only a limited
		// number, and only those that no other transaction is deleting.
		if _, err := tx.Exec(ctx, `DELETE FROM mailboxes WHERE ctid = ANY (ARRAY(
			SELECT ctid FROM mailboxes WHERE until <= $1 LIMIT 1000 FOR UPDATE SKIP LOCKED))`, now.Unix()); err != nil {
			return err
		}
		var all int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM (SELECT FROM mailboxes WHERE until > $2 LIMIT $1) AS few", maxMailboxes, now.Unix()).Scan(&all); err != nil {
			return err
		}
		if all >= maxMailboxes {
			return relay.ErrBusy
		}
		var first *int64
		if err := tx.QueryRow(ctx, "SELECT count(*), min(until) FROM mailboxes WHERE id = $1", id[:]).Scan(&n, &first); err != nil {
			return err
		}
		if n++; n > relay.MaxMessages {
			return fmt.Errorf("%w: %d messages", relay.ErrTooLarge, relay.MaxMessages)
		}
		if first == nil {
			first = new(until.Unix())
		}
		_, err := tx.Exec(ctx, "INSERT INTO mailboxes VALUES ($1, $2, $3, $4)", id[:], n, message, *first)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("post message: %w", wrap(err))
	}
	return n, nil
}

func (s *Store) Message(ctx context.Context, id relay.MailboxID, n int, now time.Time) ([]byte, error) {
	var b []byte
	err := s.pool.QueryRow(ctx, "SELECT message FROM mailboxes WHERE id = $1 AND n = $2 AND until > $3", id[:], n, now.Unix()).Scan(&b)
	if err != nil {
		return nil, fmt.Errorf("message: %w", wrap(err))
	}
	return b, nil
}
