// Package pay defines what a market needs from a payment provider: verifiable proof that somebody
// paid, and a way to pay somebody. No card number passes a market, nor anything else that pays
// without its holder. The exception is a voucher's code, which is worth its amount.
//
// A payment becomes a deposit in the ledger; what it buys is the market's business. Run of package
// paytest tests every provider's contract.
package pay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"github.com/locket-dev/locket/cloud/market/ledger"
)

// Errors that callers can tell apart.
var (
	ErrProof    = errors.New("this does not prove a payment")
	ErrUsed     = errors.New("this payment is somebody else's")
	ErrTries    = errors.New("too many wrong tries")
	ErrDeclined = errors.New("the provider declined") // permanent: a retry with the same key gives the same error
)

// Request is what somebody wants to pay.
type Request struct {
	Key   string // key of this payment: the same key begins no second one
	Payer string
	Order string // the order to pay; may be empty
	Money ledger.Money
}

// Step is what the payer does next.
type Step struct {
	// URL is a page of the provider to open, or empty.
	URL string `json:"url,omitempty"`
	// Header goes into an answer 402 for an agent that pays by itself.
	Header http.Header `json:"-"`
	// Say tells a person what to do.
	Say string `json:"say"`
}

// Proof proves a payment: a provider's signed message, or a code.
type Proof struct {
	Payer  string      // who presents it, if that is known; a provider's message has none
	From   string      // the network address that brought it; empty if it does not matter
	Header http.Header // header of the HTTP request that brought it
	Body   []byte
	For    *Request // what it is to pay for, if its format does not say so
}

// Kind says what happened.
type Kind string

// The kinds of change.
const (
	Paid         Kind = "paid"          // Money came in from Payer
	PayoutFailed Kind = "payout failed" // Money that was on its way to Payer came back
	Reversed     Kind = "reversed"      // the provider took Money back that Payer had paid
)

// Fact is what a proof proves.
type Fact struct {
	Kind  Kind         `json:"kind"`
	Key   string       `json:"key"` // identifies the event, however often it is reported
	Payer string       `json:"payer"`
	Order string       `json:"order,omitempty"`
	Money ledger.Money `json:"money"`
}

// Book records a fact in a transaction. If it is called again with the same fact, it changes
// nothing.
type Book func(context.Context, *sql.Tx, Fact) error

// Provider takes and pays money. It is safe for concurrent use.
type Provider interface {
	// Name is the provider's account in the ledger.
	Name() string

	// Begin returns the payer's next step. It books nothing.
	Begin(context.Context, Request) (Step, error)

	// Settle checks a proof and calls book for each fact that it proves, all in one transaction. An
	// error of book undoes everything, and the same proof can then be presented again. A proof with
	// nothing new to book is no error.
	Settle(context.Context, Proof, Book) error

	// Payout pays out what the ledger has booked as a payout, and returns what the payee needs to
	// get it, if anything. Called again with the same key, it pays nothing more and returns the
	// same. [ErrDeclined] is permanent.
	Payout(ctx context.Context, key, to string, m ledger.Money) (string, error)
}

// Deposits books payments through a provider as deposits of their payers, and failed payouts as
// deposits of their sellers. A reversed payment is taken from its payer, or, if the payer has spent
// it, from the operator's fees.
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
			if errors.Is(err, ledger.ErrFunds) || errors.Is(err, ledger.ErrKey) { // or the fees were charged the first time
				from = ledger.Fees()
				err = l.Payout(ctx, tx, key, from, provider, f.Money)
			}
			return err
		}
		return fmt.Errorf("book %q: %w", f.Kind, ErrProof)
	}
}
