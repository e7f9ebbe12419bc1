// Package ledger keeps the books of a market: double entry, in whole minor units, separately for
// each currency.
//
// An account belongs to a buyer, a seller, the escrow of an order, the operator's fees, or a
// provider, which holds the money in the outside world. A transfer takes from one account and gives
// to another in one row, so the sum of all accounts of a currency is always zero. A trigger in the
// tables keeps the balances, and refuses negative ones. Only a provider's account is negative: by
// what it holds for the others.
//
//	Deposit  provider → buyer      money comes in
//	Hold      buyer    → escrow          an order is funded
//	Release   escrow   → sellers, fees   the goods were accepted
//	Refund    escrow   → buyer           in full or in part
//	Payout    seller   → provider        money goes out
//
// Each booking has a key that the caller chooses, such as "order 7: hold". Repeating a booking
// under the same key changes nothing and is no error; a different one under that key is [ErrKey].
// Everything runs inside the caller's transaction, so that an order's state and its money change
// together.
package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/tables"
)

// Errors that callers can distinguish.
var (
	ErrAmount  = errors.New("amount can't be booked")
	ErrAccount = errors.New("account can't be booked on")
	ErrFunds   = errors.New("there is not enough on the account")
	ErrKey     = errors.New("another booking has this key")
	ErrHolder  = errors.New("the escrow has another buyer's money")
	ErrBooks   = errors.New("the books are wrong")
)

// Kind is the purpose of an account.
type Kind string

// The kinds of accounts.
const (
	provider Kind = "provider"
	buyer    Kind = "buyer"
	seller   Kind = "seller"
	escrow   Kind = "escrow"
	fees     Kind = "fees"
)

// Account names an account in each currency. It is created when it is first booked on.
type Account struct {
	Kind  Kind   `json:"kind"`
	Owner string `json:"owner,omitempty"` // up to 200 bytes
}

// Buyer is the account of somebody's money to spend.
func Buyer(id string) Account { return Account{buyer, id} }

// Seller is the account of somebody's earnings.
func Seller(id string) Account { return Account{seller, id} }

// Escrow is the account of the money held for an order.
func Escrow(order string) Account { return Account{escrow, order} }

// Provider is the account of the money that a provider of payments holds.
func Provider(name string) Account { return Account{provider, name} }

// Fees is the account of the operator's earnings.
func Fees() Account { return Account{Kind: fees} }

func (a Account) String() string { return strings.TrimSpace(string(a.Kind) + " " + a.Owner) }

// Share is a seller's part of a release.
type Share struct {
	Seller string `json:"seller"`
	Amount Money  `json:"amount"`
}

// Ledger books in a market's tables. It is safe for concurrent use.
type Ledger struct {
	dialect tables.Dialect
	now     func() time.Time
}

// New makes the ledger for databases of a dialect. now gives the time of bookings; nil: this
// machine's clock.
func New(dialect tables.Dialect, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{dialect, now}
}

// Deposit books money that came in through a provider to a buyer's account. To a seller or the
// fees, it reverses a payout that failed.
func (l *Ledger) Deposit(ctx context.Context, tx *sql.Tx, key, by string, to Account, m Money) error {
	if to.Kind != buyer && to.Kind != seller && to.Kind != fees {
		return fmt.Errorf("deposit: %w: %s", ErrAccount, to)
	}
	return l.book(ctx, tx, key, "deposit", transfer{Provider(by), to, m})
}

// Hold moves a buyer's money into the escrow of an order. It may come in parts, from one buyer.
func (l *Ledger) Hold(ctx context.Context, tx *sql.Tx, key, order, from string, m Money) error {
	return l.book(ctx, tx, key, "hold", transfer{Buyer(from), Escrow(order), m})
}

// Release pays what an escrow holds, or a part of it, to the sellers and the operator. All amounts
// are in one currency. Parts of zero are left out.
func (l *Ledger) Release(ctx context.Context, tx *sql.Tx, key, order string, shares []Share, fee Money) error {
	ts := make([]transfer, 0, len(shares)+1)
	for _, s := range append(slices.Clone(shares), Share{Amount: fee}) {
		if s.Amount.Minor == 0 {
			continue
		}
		if s.Amount.Currency != fee.Currency {
			return fmt.Errorf("release: %w: %s beside %s", ErrAmount, s.Amount, fee)
		}
		ts = append(ts, transfer{Escrow(order), Seller(s.Seller), s.Amount})
	}
	if fee.Minor != 0 {
		ts[len(ts)-1].To = Fees()
	}
	return l.book(ctx, tx, key, "release", ts...)
}

// Refund returns what an escrow holds, or a part of it, to the buyer from whom it came.
func (l *Ledger) Refund(ctx context.Context, tx *sql.Tx, key, order string, m Money) error {
	var to string
	err := tx.QueryRowContext(ctx, `SELECT b.owner FROM ledger_accounts e JOIN ledger_accounts b ON b.id = e.holder
		WHERE e.kind = $1 AND e.owner = $2 AND e.currency = $3`, escrow, order, m.Currency).Scan(&to)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("refund: %w: %s never held %s", ErrFunds, Escrow(order), m.Currency)
	}
	if err != nil {
		return fmt.Errorf("refund: %w", err)
	}
	return l.book(ctx, tx, key, "refund", transfer{Escrow(order), Buyer(to), m})
}

// Payout books money that goes out through a provider, from a seller, a buyer who gets it back, or
// the operator's fees. A provider can't pay out more than came in through it.
func (l *Ledger) Payout(ctx context.Context, tx *sql.Tx, key string, from Account, by string, m Money) error {
	if from.Kind != buyer && from.Kind != seller && from.Kind != fees {
		return fmt.Errorf("payout: %w: %s", ErrAccount, from)
	}
	return l.book(ctx, tx, key, "payout", transfer{from, Provider(by), m})
}

type transfer struct {
	From, To Account
	Money    Money
}

// book writes a booking with its transfers, or nothing.
func (l *Ledger) book(ctx context.Context, tx *sql.Tx, key, kind string, ts ...transfer) error {
	fail := func(err error) error { return fmt.Errorf("book %s %q: %w", kind, key, err) }
	if key == "" || len(key) > 200 || !plain(key) {
		return fail(fmt.Errorf("%w: want 1 to 200 printable characters", ErrKey))
	}
	if len(ts) == 0 {
		return fail(fmt.Errorf("%w: nothing moves", ErrAmount))
	}
	for _, t := range ts {
		if err := t.Money.positive(); err != nil {
			return fail(err)
		}
		for _, a := range []Account{t.From, t.To} {
			if (a.Owner == "") != (a.Kind == fees) || len(a.Owner) > 200 || !plain(a.Owner) {
				return fail(fmt.Errorf("%w: %s %q: want an owner of 1 to 200 printable characters", ErrAccount, a.Kind, a.Owner))
			}
		}
	}
	said, err := json.Marshal(struct {
		Kind      string
		Transfers []transfer
	}{kind, ts})
	if err != nil {
		return fail(err)
	}
	// A failed booking leaves nothing, even if the caller continues and commits.
	if _, err := tx.ExecContext(ctx, `SAVEPOINT booking`); err != nil {
		return fail(err)
	}
	if err := l.write(ctx, tx, key, kind, sha256.Sum256(said), ts); err != nil {
		_, back := tx.ExecContext(ctx, `ROLLBACK TO booking`)
		return fail(errors.Join(err, back))
	}
	if _, err := tx.ExecContext(ctx, `RELEASE SAVEPOINT booking`); err != nil {
		return fail(err)
	}
	return nil
}

func (l *Ledger) write(ctx context.Context, tx *sql.Tx, key, kind string, content [sha256.Size]byte, ts []transfer) error {
	var id int64
	err := tx.QueryRowContext(ctx, `INSERT INTO ledger_bookings (key, kind, content, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (key) DO NOTHING RETURNING id`, key, kind, content[:], l.now().UnixMilli()).Scan(&id)
	if err == nil {
		return l.move(ctx, tx, id, ts)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var was []byte // the key is in use
	if err := tx.QueryRowContext(ctx, `SELECT content FROM ledger_bookings WHERE key = $1`, key).Scan(&was); err != nil {
		return err
	}
	if !bytes.Equal(was, content[:]) {
		return ErrKey
	}
	return nil
}

// move writes the transfers of a booking. It checks them all before it writes the first.
func (l *Ledger) move(ctx context.Context, tx *sql.Tx, booking int64, ts []transfer) error {
	c := ts[0].Money.Currency
	var all []Account
	for _, t := range ts {
		all = append(all, t.From, t.To)
	}
	// Transactions lock the accounts that they share in the same order.
	slices.SortFunc(all, func(a, b Account) int {
		return strings.Compare(order(a)+"\x00"+a.Owner, order(b)+"\x00"+b.Owner)
	})
	rows := map[Account]*row{}
	for _, a := range slices.Compact(all) {
		var holder *int64
		if a.Kind == escrow {
			if ts[0].To == a {
				holder = &rows[ts[0].From].id // buyers come first
			} else if err := tx.QueryRowContext(ctx, `SELECT holder FROM ledger_accounts WHERE kind = $1 AND owner = $2 AND currency = $3`,
				a.Kind, a.Owner, c).Scan(&holder); errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("%w: %s never held %s", ErrFunds, a, c)
			} else if err != nil {
				return err
			}
		}
		r, err := l.account(ctx, tx, a, c, holder)
		if err != nil {
			return err
		}
		if holder != nil && *r.holder != *holder {
			return fmt.Errorf("%w: %s", ErrHolder, a)
		}
		rows[a] = r
	}
	for _, t := range ts {
		from := rows[t.From]
		from.balance -= t.Money.Minor
		to := rows[t.To]
		to.balance += t.Money.Minor
		if t.From.Kind != provider && from.balance < 0 || t.To.Kind == provider && to.balance > 0 {
			return fmt.Errorf("%w: %s from %s to %s", ErrFunds, t.Money, t.From, t.To)
		}
		if from.balance < -maxBalance || to.balance > maxBalance {
			return fmt.Errorf("%w: the balance of %s would be too large", ErrAmount, t.To)
		}
	}
	for _, t := range ts {
		if _, err := tx.ExecContext(ctx, `INSERT INTO ledger_transfers (booking, debit, credit, currency, amount) VALUES ($1, $2, $3, $4, $5)`,
			booking, rows[t.From].id, rows[t.To].id, c, t.Money.Minor); err != nil {
			return err
		}
	}
	return nil
}

// maxBalance is the limit of balances in the tables.
const maxBalance = 1_000_000_000_000_000_000

// order: buyers before escrows, which name them, and the accounts that everybody books on last, so
// that they are locked for the shortest time.
func order(a Account) string {
	return map[Kind]string{buyer: "1", escrow: "2", seller: "3", fees: "4", provider: "5"}[a.Kind]
}

type row struct {
	id, balance int64
	holder      *int64 // buyer of an escrow
}

// account returns an account, and creates it if there is none. No other transaction can change it
// before this one ends.
func (l *Ledger) account(ctx context.Context, tx *sql.Tx, a Account, c Currency, holder *int64) (*row, error) {
	if _, err := tx.ExecContext(ctx, `INSERT INTO ledger_accounts (kind, owner, currency, holder) VALUES ($1, $2, $3, $4)
		ON CONFLICT (kind, owner, currency) DO NOTHING`, a.Kind, a.Owner, c, holder); err != nil {
		return nil, err
	}
	r := &row{}
	err := tx.QueryRowContext(ctx, `SELECT id, balance, holder FROM ledger_accounts WHERE kind = $1 AND owner = $2 AND currency = $3`+l.dialect.Lock(),
		a.Kind, a.Owner, c).Scan(&r.id, &r.balance, &r.holder)
	return r, err
}

// plain allows no control characters, and no invalid UTF-8, which PostgreSQL would refuse.
func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
}
