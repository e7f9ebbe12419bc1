package market

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/sync/trade"
)

// Deposit adds a voucher's worth to a key's balance, and returns all of its balances.
func (m *Market) Deposit(ctx context.Context, p trade.Payment, by trade.Key) ([]trade.Balance, error) {
	if err := m.c.Vouchers.Settle(ctx, pay.Proof{Payer: by.String(), Body: []byte(p.Voucher)}, pay.Deposits(m.ledger, m.c.Vouchers.Name())); err != nil {
		return nil, err
	}
	return m.Balance(ctx, by)
}

// Payout takes what a seller earned, or what a buyer has left, out of the market, by a voucher, or
// to an address by the operator's hand. The caller chooses the key: the same one gives the same
// code again, or the same id under which the payout waits.
func (m *Market) Payout(ctx context.Context, p *trade.Payout, by trade.Key) (code string, err error) {
	from := ledger.Seller(by.String())
	if p.Spend {
		from = ledger.Buyer(by.String())
	}
	key := "payout " + by.String() + " " + p.Key.String()
	money := ledger.Money{Minor: int64(p.Minor), Currency: ledger.Currency(p.Currency)}
	provider := m.c.Vouchers.Name()
	if p.To != "" {
		if err := m.wallets(p.To, money); err != nil {
			return "", err
		}
		provider = x402.Name
	}
	err = m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		err := m.ledger.Payout(ctx, tx, key, from, provider, money)
		if err == nil && p.To != "" {
			code, err = m.c.X402.BookPayout(ctx, tx, key, by.String(), p.To, money)
		}
		return err
	})
	if errors.Is(err, x402.ErrOwed) {
		err = fmt.Errorf("%w: %v", ErrFull, err)
	}
	if errors.Is(err, ledger.ErrFunds) {
		err = fmt.Errorf("%w: there is less than %s", ErrFunds, money)
	}
	if err != nil || p.To != "" {
		return code, err
	}
	return m.c.Vouchers.Payout(ctx, key, by.String(), money)
}
