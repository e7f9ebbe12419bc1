package x402

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/tables"
)

// x402 has no payouts. A payout is stored with the recipient's address, and stays open until the
// operator has paid it by hand and named the transaction.

// Open is something that waits for the operator.
type Open struct {
	ID      string
	Payout  bool   // a payout; otherwise a payment of which it is not clear whether it was settled
	Order   string // order of a payment
	Address string // the payout's recipient, or the payer
	Money   ledger.Money
	Amount  string // for a payout in units of the asset
	Tx      string // transaction that the facilitator named; empty: none
	Reason  string
	By      string // key that requested the payout, or whose order is paid
	Network string // for a payout
	Asset   string // for a payout
	At      int64  // for a payment: from when on the operator can declare it never settled, in seconds; for a payout: when it was requested
}

// maxOpen is how many of each are listed.
const maxOpen = 200

// ErrNone: nothing with this id waits for the operator.
var ErrNone = errors.New("nothing of this id waits for the operator")

// ErrLive: it is too early to declare that a payment was never settled.
var ErrLive = errors.New("the authorization is still valid and can be settled")

// CountOpen counts what is still open in the tables, whether payments by x402 are enabled or not:
// payments that may be settled, or are not booked, and payouts that wait.
func CountOpen(ctx context.Context, db *tables.DB) (payments, payouts int, err error) {
	err = db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM x402_payments WHERE state IN ('sent', 'unclear', 'settled')),
			(SELECT count(*) FROM x402_payouts WHERE tx = '')`).Scan(&payments, &payouts)
	})
	return payments, payouts, err
}

// Payable checks a payout, and returns an error if it can't be paid.
func (p *Provider) Payable(to string, m ledger.Money) error {
	if !address.MatchString(to) {
		return fmt.Errorf("%w: %.60q is not an address", ledger.ErrAccount, to)
	}
	_, err := p.Amount(m)
	if err == nil && m.Minor < p.least() {
		err = fmt.Errorf("%w: %s: the least that is paid out by hand is %s", ledger.ErrAmount, m, ledger.Money{Minor: p.least(), Currency: m.Currency})
	}
	return err
}

// least is the smallest payout: one unit of the currency.
func (p *Provider) least() int64 {
	n := int64(1)
	for range p.digits {
		n *= 10
	}
	return n
}

// maxOwed is how many payouts of one key may wait at a time, because each is work for the operator.
const maxOwed = 10

// ErrOwed: one key has too many waiting payouts.
var ErrOwed = fmt.Errorf("%d payouts of this key wait for the operator already", maxOwed)

// Payout implements [pay.Provider]: to is an address. It returns the id under which the payout
// waits for the operator.
func (p *Provider) Payout(ctx context.Context, key, to string, m ledger.Money) (id string, err error) {
	err = p.db.Change(ctx, func(tx *sql.Tx) error {
		id, err = p.BookPayout(ctx, tx, key, to, to, m)
		return err
	})
	return id, err
}

// BookPayout is [Provider.Payout] in the transaction that books it, so that either both happen or neither.
// by is the key that requests it; at most [maxOwed] of its payouts may wait.
func (p *Provider) BookPayout(ctx context.Context, tx *sql.Tx, key, by, to string, m ledger.Money) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("pay out by x402: %w", err) }
	if err := p.Payable(to, m); err != nil {
		return fail(err)
	}
	amount, err := p.Amount(m)
	if err != nil {
		return fail(err)
	}
	sum := sha256.Sum256([]byte(key))
	id := hex.EncodeToString(sum[:])
	if _, err := tx.ExecContext(ctx, `INSERT INTO x402_payouts (key, id, of, network, asset, address, minor, currency, amount, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (key) DO NOTHING`,
		key, id, by, p.c.Network, p.c.Asset, to, m.Minor, m.Currency, amount, p.c.Now().Unix()); err != nil {
		return fail(err)
	}
	var was ledger.Money
	var who string
	if err := tx.QueryRowContext(ctx, `SELECT address, minor, currency FROM x402_payouts WHERE key = $1`, key).Scan(&who, &was.Minor, &was.Currency); err != nil {
		return fail(err)
	}
	if who != to || was != m {
		return fail(fmt.Errorf("%w: %s to %s", ledger.ErrKey, was, who))
	}
	var owed int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM x402_payouts WHERE of = $1 AND tx = ''`, by).Scan(&owed); err != nil {
		return fail(err)
	}
	if owed > maxOwed {
		return fail(ErrOwed)
	}
	return id, nil
}

// Waiting lists what waits for the operator: payouts, the oldest first, and then payments. Those
// that were sent to be settled come before those that were not, which anybody can make for the fees of
// a network. Of each kind the oldest one of each payer comes first, then the second of each, and so on.
func (p *Provider) Waiting(ctx context.Context) (out []Open, err error) {
	into := func(o *Open) []any {
		return []any{&o.ID, &o.Payout, &o.Order, &o.Address, &o.Money.Minor, &o.Money.Currency, &o.Amount, &o.Tx, &o.Reason, &o.At, &o.By, &o.Network, &o.Asset}
	}
	err = p.db.Read(ctx, func(tx *sql.Tx) error {
		payouts, err := tables.Collect(ctx, tx, into, `SELECT id, 1, '', address, minor, currency, amount, '', '', at, of, network, asset FROM x402_payouts WHERE tx = '' ORDER BY at, id LIMIT $1`, maxOpen)
		if err != nil {
			return err
		}
		payments, err := tables.Collect(ctx, tx, into, `SELECT id, 0, of, payer, minor, currency, '', tx, reason, valid_before + $2, buyer, '', '' FROM
			(SELECT p.*, row_number() OVER (PARTITION BY payer, tries = 0 ORDER BY at, id) AS place FROM x402_payments p WHERE state = 'unclear') AS one
			ORDER BY tries = 0, place, at, id LIMIT $1`, maxOpen, grace)
		out = append(payouts, payments...)
		return err
	})
	return out, err
}

// Resolve records the operator's decision. A payout was paid, or a payment settled, by the
// transaction tx. If tx is empty, a payment was never settled; its authorization must have ended
// [grace] ago. A refused payment can be given its transaction later: it is then its buyer's money,
// and pays no order. [Provider.Resume] books what was settled. A transaction closes one item, or,
// if they are paid together, several payouts. Repeating a decision changes nothing.
func (p *Provider) Resolve(ctx context.Context, id, tx string, together bool) error {
	if tx != "" && !hash.MatchString(tx) {
		return fmt.Errorf("transaction: %w: %.80q: want 0x and 64 hexadecimal characters", ledger.ErrAmount, tx)
	}
	hashed := strings.ToLower(tx)
	return p.db.Change(ctx, func(t *sql.Tx) error {
		var was string
		err := t.QueryRowContext(ctx, `SELECT tx FROM x402_payouts WHERE id = $1`+p.db.Dialect.Lock(), id).Scan(&was)
		if err == nil {
			if hashed == "" || was != "" && was != hashed {
				return fmt.Errorf("payout %s: %w", id, ErrNone)
			}
			if was == hashed { // others may have been closed by it since
				return nil
			}
			if err := single(ctx, t, id, hashed, together); err != nil {
				return fmt.Errorf("payout %s: %w", id, err)
			}
			_, err = t.ExecContext(ctx, `UPDATE x402_payouts SET tx = $2 WHERE id = $1`, id, hashed)
			return err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		extra := 0
		r, err := scan(t.QueryRowContext(ctx, `SELECT `+columns+` FROM x402_payments WHERE id = $1`+p.db.Dialect.Lock(), id))
		switch {
		case err != nil:
			return err
		case r == nil:
			return fmt.Errorf("%s: %w", id, ErrNone)
		case hashed != "" && (r.state == settled || r.state == booked) && r.tx == hashed, hashed == "" && r.state == refused:
			return nil
		case r.state == refused && hashed != "":
			extra = 1
		case r.state != unclear:
			return fmt.Errorf("payment %s: %w: it is %s", id, ErrNone, r.state)
		case hashed == "" && p.c.Now().Unix() <= r.validBefore+grace: // somebody who paid the order again would pay twice
			return fmt.Errorf("payment %s: %w until %s", id, ErrLive, time.Unix(r.validBefore+grace, 0).UTC().Format(time.DateTime))
		case hashed == "":
			_, err = t.ExecContext(ctx, `UPDATE x402_payments SET state = 'refused', reason = 'the operator says that it was not settled' WHERE id = $1`, id)
			return err
		}
		if err := single(ctx, t, id, hashed, false); err != nil {
			return fmt.Errorf("payment %s: %w", id, err)
		}
		_, err = t.ExecContext(ctx, `UPDATE x402_payments SET state = 'settled', tx = $2, next = 0, extra = $3 WHERE id = $1`, id, hashed, extra)
		return err
	})
}

// single refuses a transaction that paid something other than id; with together, it may have paid
// other payouts.
func single(ctx context.Context, t *sql.Tx, id, tx string, together bool) error {
	var payments, payouts int
	err := t.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM x402_payments WHERE tx = $1 AND id <> $2 AND state IN ('settled', 'booked')), (SELECT count(*) FROM x402_payouts WHERE tx = $1 AND id <> $2)`,
		tx, id).Scan(&payments, &payouts)
	if err == nil && (payments > 0 || payouts > 0 && !together) {
		err = fmt.Errorf("%w: the transaction paid something else", ErrNone)
	}
	return err
}
