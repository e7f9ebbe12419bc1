// Package pay has what a market needs of a provider of payments: that somebody
// paid, shown so that it can be checked, and that somebody is paid. No number of
// a card, and nothing else that pays by itself without its holder, passes a
// market; a voucher's code does, and is worth what stands on it.
//
// A payment becomes a deposit in the ledger; what is bought with it is the
// market's matter. Run of package paytest holds every provider to this.
package pay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"github.com/locket-dev/locket/cloud/market/ledger"
)

// What callers can tell apart.
var (
	ErrProof    = errors.New("this does not prove a payment")
	ErrUsed     = errors.New("this payment is somebody else's")
	ErrTries    = errors.New("too many wrong tries")
	ErrDeclined = errors.New("the provider declined") // for good: another try with the same key gives the same
)

// Request is what somebody wants to pay.
type Request struct {
	Key   string // of this payment: the same key begins no second one
	Payer string
	Order string // what it is for; may be empty
	Money ledger.Money
}

// Step is what the payer does next.
type Step struct {
	// URL is a page of the provider's to open, or empty.
	URL string `json:"url,omitempty"`
	// Header goes into an answer 402 for an agent that pays by itself.
	Header http.Header `json:"-"`
	// Say tells a person what to do.
	Say string `json:"say"`
}

// Proof is what shows a payment: a provider's signed message, a code.
type Proof struct {
	Payer  string      // who shows it, where that is known; a message of the provider's has none
	Header http.Header // of the HTTP request that brought it
	Body   []byte
	For    *Request // what it is to pay for, where its form does not say so
}

// Kind says what happened.
type Kind string

// What happens.
const (
	Paid         Kind = "paid"          // Money came in from Payer
	PayoutFailed Kind = "payout failed" // Money that was on its way to Payer came back
	Reversed     Kind = "reversed"      // the provider took Money back that Payer had paid
)

// Fact is what a proof shows.
type Fact struct {
	Kind  Kind         `json:"kind"`
	Key   string       `json:"key"` // one for each thing that happened, however often it is told
	Payer string       `json:"payer"`
	Order string       `json:"order,omitempty"`
	Money ledger.Money `json:"money"`
}

// Book takes a fact over in a transaction. It may be called again with the same
// fact, and changes nothing then.
type Book func(context.Context, *sql.Tx, Fact) error

// Provider takes and pays money. It is safe for concurrent use.
type Provider interface {
	// Name is the provider's account in the ledger.
	Name() string

	// Begin says what a payer does to pay. Nothing is booked by it.
	Begin(context.Context, Request) (Step, error)

	// Settle checks a proof and calls book for each fact that it shows, all in one
	// transaction. What book refuses undoes everything; the same proof can then be
	// shown again. A proof that shows nothing new to book is no error.
	Settle(context.Context, Proof, Book) error

	// Payout pays out what the ledger has booked as such, and gives what the payee
	// needs to have it, if anything. Called again with the same key it pays nothing
	// more and gives the same. [ErrDeclined] says that it never will.
	Payout(ctx context.Context, key, to string, m ledger.Money) (string, error)
}

// Deposits books payments with a provider as deposits of their payers, and
// payouts that failed as deposits of their sellers. A payment that was reversed
// is taken from its payer, or, where the payer has spent it, from the operator's
// fees.
func Deposits(l *ledger.Ledger, provider string) Book {
	return func(ctx context.Context, tx *sql.Tx, f Fact) error {
		key := provider + " " + f.Key
		switch f.Kind {
		case Paid:
			return l.Deposit(ctx, tx, key, provider, ledger.Buyer(f.Payer), f.Money)
		case PayoutFailed:
			return l.Deposit(ctx, tx, key, provider, ledger.Seller(f.Payer), f.Money)
		case Reversed:
			from := ledger.Buyer(f.Payer)
			err := l.Payout(ctx, tx, key, from, provider, f.Money)
			if errors.Is(err, ledger.ErrFunds) || errors.Is(err, ledger.ErrKey) { // or it was the fees the first time
				from = ledger.Fees()
				err = l.Payout(ctx, tx, key, from, provider, f.Money)
			}
			return err
		}
		return fmt.Errorf("book %q: %w", f.Kind, ErrProof)
	}
}
