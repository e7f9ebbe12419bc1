package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/cloud/market/tables"
)

// Balance returns an account's balance in one currency: zero if nothing was ever booked on it. A
// provider's is negative by what it holds.
func (l *Ledger) Balance(ctx context.Context, tx *sql.Tx, a Account, c Currency) (Money, error) {
	m := Money{Currency: c}
	err := tx.QueryRowContext(ctx, `SELECT balance FROM ledger_accounts WHERE kind = $1 AND owner = $2 AND currency = $3`, a.Kind, a.Owner, c).Scan(&m.Minor)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Money{}, fmt.Errorf("read balance of %s: %w", a, err)
	}
	return m, nil
}

// Balances returns an account's balances, in the order of currencies.
func (l *Ledger) Balances(ctx context.Context, tx *sql.Tx, a Account) ([]Money, error) {
	all, err := tables.Collect(ctx, tx, func(m *Money) []any { return []any{&m.Minor, &m.Currency} },
		`SELECT balance, currency FROM ledger_accounts WHERE kind = $1 AND owner = $2 ORDER BY currency`, a.Kind, a.Owner)
	if err != nil {
		return nil, fmt.Errorf("read balances: %w", err)
	}
	return all, nil
}

// Check adds up all transfers again. It returns [ErrBooks] with each account whose balance differs
// from its transfers, and each currency whose balances don't add up to zero. It reads everything.
func (l *Ledger) Check(ctx context.Context, tx *sql.Tx) error {
	type wrong struct {
		account      Account
		have, should Money
	}
	all, err := tables.Collect(ctx, tx, func(w *wrong) []any {
		return []any{&w.account.Kind, &w.account.Owner, &w.have.Currency, &w.have.Minor, &w.should.Minor}
	}, `SELECT a.kind, a.owner, a.currency, a.balance,
		(SELECT CAST(coalesce(sum(amount), 0) AS bigint) FROM ledger_transfers WHERE credit = a.id) -
		(SELECT CAST(coalesce(sum(amount), 0) AS bigint) FROM ledger_transfers WHERE debit = a.id)
		FROM ledger_accounts a ORDER BY a.id`)
	if err != nil {
		return fmt.Errorf("check the books: %w", err)
	}
	var bad []error
	sums := map[Currency]int64{}
	for _, w := range all {
		w.should.Currency = w.have.Currency
		sums[w.have.Currency] += w.have.Minor
		if w.have != w.should {
			bad = append(bad, fmt.Errorf("%w: %s has %s, and its transfers add up to %s", ErrBooks, w.account, w.have, w.should))
		}
	}
	for c, sum := range sums {
		if sum != 0 {
			bad = append(bad, fmt.Errorf("%w: all accounts of %s together have %s instead of nothing", ErrBooks, c, Money{sum, c}))
		}
	}
	return errors.Join(bad...)
}
