package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/locket-dev/locket/cloud/market/tables"
)

// Entry is a line of an account's statement.
type Entry struct {
	N      int64     `json:"n"` // rises from 1, with gaps
	Key    string    `json:"key"`
	Kind   string    `json:"kind"` // deposit, hold, release, refund or payout
	At     time.Time `json:"at"`
	Other  Account   `json:"other"`
	Amount Money     `json:"amount"` // negative if it left the account
}

// Statement returns up to limit lines of an account after line after, oldest first.
func (l *Ledger) Statement(ctx context.Context, tx *sql.Tx, a Account, after int64, limit int) ([]Entry, error) {
	all, err := tables.Collect(ctx, tx, func(e *Entry) []any {
		return []any{&e.N, &e.Key, &e.Kind, (*milliseconds)(&e.At), &e.Other.Kind, &e.Other.Owner, &e.Amount.Currency, &e.Amount.Minor}
	}, `SELECT t.id, b.key, b.kind, b.at, o.kind, o.owner, t.currency, CASE WHEN t.debit = a.id THEN -t.amount ELSE t.amount END
		FROM ledger_accounts a
		JOIN ledger_transfers t ON t.debit = a.id OR t.credit = a.id
		JOIN ledger_accounts o ON o.id = CASE WHEN t.debit = a.id THEN t.credit ELSE t.debit END
		JOIN ledger_bookings b ON b.id = t.booking
		WHERE a.kind = $1 AND a.owner = $2 AND t.id > $3 ORDER BY t.id LIMIT $4`, a.Kind, a.Owner, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read statement: %w", err)
	}
	return all, nil
}

// milliseconds reads a time from the tables.
type milliseconds time.Time

// Scan implements [sql.Scanner].
func (t *milliseconds) Scan(v any) error {
	ms, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is no time", v)
	}
	*t = milliseconds(time.UnixMilli(ms).UTC())
	return nil
}
