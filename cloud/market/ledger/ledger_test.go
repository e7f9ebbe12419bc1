package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/tabletest"
)

var databases tabletest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

func eur(minor int64) Money { return Money{minor, "EUR"} }

type books struct {
	*Ledger
	db *tables.DB
}

func (b books) change(tb interface{ Fatal(...any) }, f func(context.Context, *sql.Tx) error) error {
	var said error
	if err := b.db.Change(context.Background(), func(tx *sql.Tx) error {
		said = f(context.Background(), tx) // a refused booking leaves nothing, and the transaction continues
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return said
}

func (b books) balance(t *testing.T, a Account) int64 {
	t.Helper()
	var m Money
	must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) (err error) {
		m, err = b.Balance(ctx, tx, a, "EUR")
		return err
	}))
	return m.Minor
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

func TestOrder(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
		b := books{New(db.Dialect, func() time.Time { return at }), db}
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(
				b.Deposit(ctx, tx, "in", "voucher", Buyer("ada"), eur(1000)),
				b.Hold(ctx, tx, "hold", "o1", "ada", eur(900)),
				b.Refund(ctx, tx, "part", "o1", eur(200)),
				b.Release(ctx, tx, "out", "o1", []Share{{"bob", eur(400)}, {"eve", eur(265)}}, eur(35)),
				b.Payout(ctx, tx, "paid", Seller("bob"), "voucher", eur(150)))
		}))
		for a, want := range map[Account]int64{Buyer("ada"): 300, Escrow("o1"): 0, Seller("bob"): 250, Seller("eve"): 265, Fees(): 35, Provider("voucher"): -850, Buyer("bob"): 0} {
			if got := b.balance(t, a); got != want {
				t.Errorf("%s has %d, want %d", a, got, want)
			}
		}
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error {
			lines, err := b.Statement(ctx, tx, Escrow("o1"), 0, 10)
			if err != nil {
				return err
			}
			var said []string
			for _, e := range lines {
				said = append(said, fmt.Sprint(e.Key, " ", e.Kind, " ", e.Other, " ", e.Amount, " ", e.At.Equal(at)))
			}
			want := "hold hold buyer ada 9.00 EUR true; part refund buyer ada -2.00 EUR true; out release seller bob -4.00 EUR true; out release seller eve -2.65 EUR true; out release fees -0.35 EUR true"
			if got := strings.Join(said, "; "); got != want {
				t.Errorf("statement\n%s\nwant\n%s", got, want)
			}
			rest, err := b.Statement(ctx, tx, Escrow("o1"), lines[2].N, 1)
			if err == nil && (len(rest) != 1 || rest[0] != lines[3]) {
				t.Errorf("page %v", rest)
			}
			return err
		}))
	})
}

func TestRefusals(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		b := books{New(db.Dialect, nil), db}
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error {
			return b.Deposit(ctx, tx, "in", "voucher", Buyer("ada"), eur(1000))
		}))
		type op = func(context.Context, *sql.Tx) error
		hold := func(key, order, who string, m Money) op {
			return func(ctx context.Context, tx *sql.Tx) error { return b.Hold(ctx, tx, key, order, who, m) }
		}
		for name, c := range map[string]struct {
			do   op
			want error
		}{
			"more than there is":   {hold("a", "o9", "ada", eur(1001)), ErrFunds},
			"another currency":     {hold("b", "o9", "ada", Money{1, "USD"}), ErrFunds},
			"no such currency":     {hold("c", "o9", "ada", Money{1, "eur"}), ErrAmount},
			"nothing":              {hold("d", "o9", "ada", eur(0)), ErrAmount},
			"less than nothing":    {hold("e", "o9", "ada", eur(-1)), ErrAmount},
			"too much":             {hold("f", "o9", "ada", eur(MaxAmount+1)), ErrAmount},
			"no key":               {hold("", "o9", "ada", eur(1)), ErrKey},
			"a key of another":     {hold("in", "o9", "ada", eur(1)), ErrKey},
			"a key with a zero":    {hold("a\x00", "o9", "ada", eur(1)), ErrKey},
			"no order":             {hold("g", "", "ada", eur(1)), ErrAccount},
			"no UTF-8":             {hold("h", "o\xff", "ada", eur(1)), ErrAccount},
			"refund of nothing":    {func(ctx context.Context, tx *sql.Tx) error { return b.Refund(ctx, tx, "i", "o9", eur(1)) }, ErrFunds},
			"release of nothing":   {func(ctx context.Context, tx *sql.Tx) error { return b.Release(ctx, tx, "j", "o9", nil, eur(0)) }, ErrAmount},
			"release of no escrow": {func(ctx context.Context, tx *sql.Tx) error { return b.Release(ctx, tx, "k", "o9", nil, eur(1)) }, ErrFunds},
			"release of two": {func(ctx context.Context, tx *sql.Tx) error {
				return b.Release(ctx, tx, "l", "o9", []Share{{"bob", Money{1, "USD"}}}, eur(1))
			}, ErrAmount},
			"deposit to an escrow": {func(ctx context.Context, tx *sql.Tx) error {
				return b.Deposit(ctx, tx, "m", "voucher", Escrow("o9"), eur(1))
			}, ErrAccount},
			"payout of an escrow": {func(ctx context.Context, tx *sql.Tx) error {
				return b.Payout(ctx, tx, "n", Escrow("o9"), "voucher", eur(1))
			}, ErrAccount},
			"payout by who has not": {func(ctx context.Context, tx *sql.Tx) error {
				return b.Payout(ctx, tx, "o", Buyer("ada"), "stripe", eur(1))
			}, ErrFunds},
		} {
			if err := b.change(t, c.do); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		// A refused booking left no escrow behind, which would belong to somebody else.
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(b.Deposit(ctx, tx, "in2", "voucher", Buyer("bob"), eur(10)), b.Hold(ctx, tx, "own", "o9", "bob", eur(10)))
		}))
		wants(t, b.change(t, hold("other", "o9", "ada", eur(1))), ErrHolder)
	})
}

// The tables refuse what the code never writes, and Check reports what was written around it.
func TestTablesRefuseInvalidBookings(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		b := books{New(db.Dialect, nil), db}
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(b.Deposit(ctx, tx, "in", "voucher", Buyer("ada"), eur(100)), b.Deposit(ctx, tx, "in2", "voucher", Buyer("ada"), Money{7, "USD"}))
		}))
		for _, q := range []string{
			`UPDATE ledger_transfers SET amount = 1`,
			`DELETE FROM ledger_transfers`,
			`UPDATE ledger_bookings SET key = 'x' WHERE key = 'in'`,
			`UPDATE ledger_accounts SET balance = -1 WHERE kind = 'buyer' AND currency = 'EUR'`,
			`INSERT INTO ledger_accounts (kind, owner, currency, balance) VALUES ('buyer', 'eve', 'EUR', 5)`,
			`INSERT INTO ledger_transfers (booking, debit, credit, currency, amount) SELECT 1, a.id, o.id, 'EUR', 101 FROM ledger_accounts a, ledger_accounts o
				WHERE a.kind = 'buyer' AND o.kind = 'provider' AND a.currency = 'EUR' AND o.currency = 'EUR'`,
			`INSERT INTO ledger_transfers (booking, debit, credit, currency, amount) SELECT 1, a.id, o.id, 'EUR', 1 FROM ledger_accounts a, ledger_accounts o
				WHERE a.kind = 'buyer' AND o.kind = 'buyer' AND a.currency = 'EUR' AND o.currency = 'USD'`,
		} {
			if err := db.Change(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(q); return err }); err == nil {
				t.Errorf("%s: was taken", q)
			}
		}
		if b.balance(t, Buyer("ada")) != 100 {
			t.Error("a refused row changed the balance")
		}
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error { return b.Check(ctx, tx) }))
		must(t, db.Change(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`UPDATE ledger_accounts SET balance = 99 WHERE kind = 'buyer' AND currency = 'EUR'`)
			return err
		}))
		err := b.change(t, func(ctx context.Context, tx *sql.Tx) error { return b.Check(ctx, tx) })
		wants(t, err, ErrBooks)
		for _, part := range []string{"buyer ada has 0.99 EUR, and its transfers add up to 1.00 EUR", "EUR together have -0.01 EUR"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	})
}

// Concurrent attempts to spend the same money spend it once.
func TestConcurrentSpending(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		b := books{New(db.Dialect, nil), db}
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error {
			return b.Deposit(ctx, tx, "in", "voucher", Buyer("ada"), eur(50))
		}))
		var all sync.WaitGroup
		refused := make(chan error, 60)
		for i := range 60 { // 30 orders of 10, each booked twice
			all.Go(func() {
				order := fmt.Sprint("o", i/2)
				refused <- b.change(t, func(ctx context.Context, tx *sql.Tx) error {
					if err := b.Hold(ctx, tx, "hold "+order, order, "ada", eur(10)); err != nil {
						return err
					}
					return b.Release(ctx, tx, "out "+order, order, []Share{{"bob", eur(9)}}, eur(1))
				})
			})
		}
		all.Wait()
		close(refused)
		n := 0
		for err := range refused {
			if err == nil {
				n++
			} else if !errors.Is(err, ErrFunds) {
				t.Fatal(err)
			}
		}
		if n != 10 || b.balance(t, Buyer("ada")) != 0 || b.balance(t, Seller("bob")) != 45 || b.balance(t, Fees()) != 5 {
			t.Errorf("%d passed; ada %d, bob %d, fees %d", n, b.balance(t, Buyer("ada")), b.balance(t, Seller("bob")), b.balance(t, Fees()))
		}
		must(t, b.change(t, func(ctx context.Context, tx *sql.Tx) error { return b.Check(ctx, tx) }))
	})
}

// Random bookings, some of them repeated, compared with a model in memory.
func TestModel(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		run := 0
		rapid.Check(t, func(t *rapid.T) { model(t, db, &run) })
	})
}

func model(t *rapid.T, db *tables.DB, run *int) {
	*run++
	b := books{New(db.Dialect, nil), db}
	name := func(s string) string { return fmt.Sprint(s, " of run ", *run) } // all runs share one database
	by, cs := name("provider"), []Currency{"EUR", "JPY"}
	type place struct {
		Account
		Currency
	}
	have, holder := map[place]int64{}, map[place]string{}
	var done []func(context.Context, *sql.Tx) error
	for i := range rapid.IntRange(1, 25).Draw(t, "bookings") {
		m := Money{rapid.Int64Range(1, 60).Draw(t, "amount"), rapid.SampledFrom(cs).Draw(t, "currency")}
		who := name(rapid.SampledFrom([]string{"ada", "bob"}).Draw(t, "who"))
		order := name(rapid.SampledFrom([]string{"o1", "o2"}).Draw(t, "order"))
		key := name(fmt.Sprint("booking ", i))
		at := func(a Account) place { return place{a, m.Currency} }
		var do func(context.Context, *sql.Tx) error
		var ts []transfer
		other := false
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			do = func(ctx context.Context, tx *sql.Tx) error { return b.Deposit(ctx, tx, key, by, Buyer(who), m) }
			ts = []transfer{{Provider(by), Buyer(who), m}}
		case 1:
			do = func(ctx context.Context, tx *sql.Tx) error { return b.Hold(ctx, tx, key, order, who, m) }
			ts = []transfer{{Buyer(who), Escrow(order), m}}
			was, ok := holder[at(Escrow(order))]
			other = ok && was != who
		case 2:
			fee := Money{m.Minor / 20, m.Currency}
			rest := Money{m.Minor - fee.Minor, m.Currency}
			do = func(ctx context.Context, tx *sql.Tx) error {
				return b.Release(ctx, tx, key, order, []Share{{who, rest}}, fee)
			}
			ts = []transfer{{Escrow(order), Seller(who), rest}, {Escrow(order), Account{fees, name("")}, fee}} // fees are checked by their sum
		case 3:
			do = func(ctx context.Context, tx *sql.Tx) error { return b.Refund(ctx, tx, key, order, m) }
			ts = []transfer{{Escrow(order), Buyer(holder[at(Escrow(order))]), m}}
		case 4:
			do = func(ctx context.Context, tx *sql.Tx) error { return b.Payout(ctx, tx, key, Seller(who), by, m) }
			ts = []transfer{{Seller(who), Provider(by), m}}
		}
		var total int64
		for _, one := range ts {
			total += one.Money.Minor
		}
		can := !other && (ts[0].From.Kind == provider || have[at(ts[0].From)] >= total)
		if err := b.change(t, do); (err == nil) != can {
			t.Fatalf("booking %d %v: %v; the model says %v", i, ts, err, can)
		} else if err != nil && !errors.Is(err, ErrFunds) && !errors.Is(err, ErrHolder) {
			t.Fatal(err)
		}
		if can {
			for _, one := range ts {
				have[at(one.From)] -= one.Money.Minor
				have[at(one.To)] += one.Money.Minor
				if one.To.Kind == escrow {
					holder[at(one.To)] = who
				}
			}
			done = append(done, do)
		}
		if len(done) > 0 && rapid.Bool().Draw(t, "again") { // this changes nothing
			if err := b.change(t, rapid.SampledFrom(done).Draw(t, "repeated")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.change(t, func(ctx context.Context, tx *sql.Tx) error {
		for p, want := range have {
			if p.Kind == fees {
				continue
			}
			if got, err := b.Balance(ctx, tx, p.Account, p.Currency); err != nil || got.Minor != want || want < 0 && p.Kind != provider {
				return fmt.Errorf("%s has %s, want %d (%v)", p.Account, got, want, err)
			}
		}
		return b.Check(ctx, tx)
	}); err != nil {
		t.Fatal(err)
	}
}

func TestMoney(t *testing.T) {
	for s, want := range map[string]Money{"12.50 EUR": eur(1250), "0.05 EUR": eur(5), "700 JPY": {700, "JPY"}, "1.000001 USDC": {1_000_001, "USDC"}, "1.234 KWD": {1234, "KWD"}} {
		if got := want.String(); got != s {
			t.Errorf("%s, want %s", got, s)
		}
	}
}
