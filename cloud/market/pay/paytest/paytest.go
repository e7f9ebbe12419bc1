// Package paytest tests that a payment provider fulfils its contract.
package paytest

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/tables"
)

// Side is a provider together with its counterpart in the outside world.
type Side struct {
	Provider pay.Provider
	// Reopen reopens the provider on the same database, as after a restart.
	Reopen func(testing.TB) pay.Provider
	// Pay does what a payer does to pay m, and returns the proof.
	Pay func(tb testing.TB, payer string, m ledger.Money) pay.Proof
	// Forge makes proofs that must be refused from a valid one.
	Forge func(testing.TB, pay.Proof) map[string]pay.Proof
	// PaidOut returns how much the provider paid to somebody.
	PaidOut func(tb testing.TB, to, said string) ledger.Money
}

// Run tests the provider that open returns, each time with an empty database.
func Run(t *testing.T, each func(*testing.T, func(*testing.T, *tables.DB)), open func(testing.TB, *tables.DB) Side) {
	for name, f := range map[string]func(*testing.T, *tables.DB, Side){
		"paid": paid, "repeated": repeated, "at once": atOnce, "forged": forged, "undone": undone, "payout": payout,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *tables.DB) { f(t, db, open(t, db)) })
		})
	}
}

var amount = ledger.Money{Minor: 1250, Currency: "EUR"}

func paid(t *testing.T, db *tables.DB, s Side) {
	if _, err := s.Provider.Begin(t.Context(), pay.Request{Key: "k", Payer: "ada", Money: amount}); err != nil {
		t.Fatal(err)
	}
	has(t, db, "ada", 0)
	settle(t, db, s.Provider, s.Pay(t, "ada", amount))
	settle(t, db, s.Provider, s.Pay(t, "bob", ledger.Money{Minor: 300, Currency: "EUR"}))
	settle(t, db, s.Provider, s.Pay(t, "ada", amount))
	has(t, db, "ada", 2500)
	has(t, db, "bob", 300)
}

func repeated(t *testing.T, db *tables.DB, s Side) {
	p := s.Pay(t, "ada", amount)
	for range 3 {
		settle(t, db, s.Provider, p)
	}
	settle(t, db, s.Reopen(t), p)
	has(t, db, "ada", 1250)
}

func atOnce(t *testing.T, db *tables.DB, s Side) {
	p, again := s.Pay(t, "ada", amount), s.Reopen(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			one := s.Provider
			if i%2 > 0 {
				one = again
			}
			if err := one.Settle(t.Context(), p, booker(db, one)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	has(t, db, "ada", 1250)
}

func forged(t *testing.T, db *tables.DB, s Side) {
	p := s.Pay(t, "ada", amount)
	all := s.Forge(t, p)
	if len(all) == 0 {
		t.Fatal("nothing is forged")
	}
	for name, f := range all {
		err := s.Provider.Settle(t.Context(), f, func(context.Context, *sql.Tx, pay.Fact) error {
			t.Errorf("%s: was booked", name)
			return nil
		})
		if !errors.Is(err, pay.ErrProof) && !errors.Is(err, pay.ErrUsed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	settle(t, db, s.Provider, p) // the genuine one is still valid
	has(t, db, "ada", 1250)
}

func undone(t *testing.T, db *tables.DB, s Side) {
	p := s.Pay(t, "ada", amount)
	broken := errors.New("broken")
	err := s.Provider.Settle(t.Context(), p, func(ctx context.Context, tx *sql.Tx, f pay.Fact) error {
		if err := booker(db, s.Provider)(ctx, tx, f); err != nil {
			t.Error(err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	has(t, db, "ada", 0)
	settle(t, db, s.Reopen(t), p)
	has(t, db, "ada", 1250)
}

func payout(t *testing.T, _ *tables.DB, s Side) {
	said, err := s.Provider.Payout(t.Context(), "payout 1", "eve", amount)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Reopen(t).Payout(t.Context(), "payout 1", "eve", amount)
	if err != nil || again != said {
		t.Fatalf("again: %q and not %q, %v", again, said, err)
	}
	if got := s.PaidOut(t, "eve", said); got != amount {
		t.Errorf("eve got %s, want %s", got, amount)
	}
	if _, err := s.Provider.Payout(t.Context(), "payout 1", "eve", ledger.Money{Minor: 1, Currency: "EUR"}); err == nil {
		t.Error("another amount was paid under the same key")
	}
}

func booker(db *tables.DB, p pay.Provider) pay.Book {
	return pay.Deposits(ledger.New(db.Dialect, nil), p.Name())
}

func settle(t *testing.T, db *tables.DB, p pay.Provider, proof pay.Proof) {
	t.Helper()
	if err := p.Settle(t.Context(), proof, booker(db, p)); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, db *tables.DB, who string, want int64) {
	t.Helper()
	err := db.Read(t.Context(), func(tx *sql.Tx) error {
		l := ledger.New(db.Dialect, nil)
		m, err := l.Balance(t.Context(), tx, ledger.Buyer(who), "EUR")
		if err == nil && m.Minor != want {
			t.Errorf("%s has %s, want %d minor units", who, m, want)
		}
		return errors.Join(err, l.Check(t.Context(), tx))
	})
	if err != nil {
		t.Fatal(err)
	}
}
