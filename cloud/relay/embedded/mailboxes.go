package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
)

// maxMailboxes limits how many messages strangers can leave here at a time.
const maxMailboxes = 50_000 // 400 MB at most

func (s *Store) Post(ctx context.Context, id relay.MailboxID, message []byte, now, until time.Time) (n int, err error) {
	err = s.change(ctx, "post message", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM mailboxes WHERE until <= ?", now.Unix()); err != nil {
			return err
		}
		var all int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM mailboxes").Scan(&all); err != nil {
			return err
		}
		if all >= maxMailboxes {
			return relay.ErrBusy
		}
		var first sql.NullInt64
		if err := tx.QueryRowContext(ctx, "SELECT count(*), min(until) FROM mailboxes WHERE id = ?", id[:]).Scan(&n, &first); err != nil {
			return err
		}
		if n++; n > relay.MaxMessages {
			return fmt.Errorf("%w: %d messages", relay.ErrTooLarge, relay.MaxMessages)
		}
		if !first.Valid {
			first.Int64 = until.Unix()
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO mailboxes VALUES (?, ?, ?, ?)", id[:], n, message, first.Int64)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (s *Store) Message(ctx context.Context, id relay.MailboxID, n int, now time.Time) ([]byte, error) {
	var b []byte
	err := s.read.QueryRowContext(ctx, "SELECT message FROM mailboxes WHERE id = ? AND n = ? AND until > ?", id[:], n, now.Unix()).Scan(&b)
	if err != nil {
		return nil, fmt.Errorf("message: %w", found(err))
	}
	return b, nil
}
