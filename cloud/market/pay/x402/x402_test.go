package x402

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/paytest"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/tabletest"
)

var databases tabletest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

func config(api string) Config {
	return Config{Facilitator: api, PayTo: x402test.PayTo, Network: x402test.Network, Asset: x402test.Asset, AssetName: x402test.Token, AssetVer: x402test.Version,
		Decimals: 6, Currency: "EUR", Base: "https://market.example", Secret: bytes.Repeat([]byte{7}, 32)}
}

func open(tb testing.TB, db *tables.DB, c Config) *Provider {
	tb.Helper()
	p, err := New(db, c)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// The suite names a payee, whose address is paid.
type payee struct{ *Provider }

func (p payee) Payout(ctx context.Context, key, to string, m ledger.Money) (string, error) {
	return p.Provider.Payout(ctx, key, x402test.NewWallet(to).Address, m)
}

// begun returns the header of the answer 402 to an order.
func begun(tb testing.TB, p *Provider, r pay.Request) http.Header {
	tb.Helper()
	step, err := p.Begin(tb.Context(), r)
	if err != nil {
		tb.Fatal(err)
	}
	return step.Header
}

func TestProvider(t *testing.T) {
	paytest.Run(t, databases.Each, func(tb testing.TB, db *tables.DB) paytest.Side {
		s := x402test.New(tb)
		p, n, w := open(tb, db, config(s.URL)), 0, x402test.NewWallet("agent")
		s.Fund(w.Address, 1_000_000_000)
		return paytest.Side{
			Provider: payee{p},
			Reopen:   func(tb testing.TB) pay.Provider { return payee{open(tb, db, config(s.URL))} },
			Pay: func(tb testing.TB, payer string, m ledger.Money) pay.Proof {
				n++
				r := pay.Request{Key: fmt.Sprint("order ", n), Payer: payer, Order: fmt.Sprint("order ", n), Money: m}
				return pay.Proof{Payer: payer, Header: w.Pay(tb, begun(tb, p, r), nil), For: &r}
			},
			Forge: func(tb testing.TB, real pay.Proof) map[string]pay.Proof { return forged(tb, p, w, real) },
			PaidOut: func(tb testing.TB, to, said string) ledger.Money {
				all, err := p.Waiting(tb.Context())
				if err != nil {
					tb.Fatal(err)
				}
				for _, o := range all {
					if o.ID == said && o.Payout && o.Address == x402test.NewWallet(to).Address && o.Amount == "12500000" {
						return o.Money
					}
				}
				return ledger.Money{}
			},
		}
	})
}

func forged(tb testing.TB, p *Provider, w *x402test.Wallet, real pay.Proof) map[string]pay.Proof {
	head := begun(tb, p, *real.For)
	with := func(h http.Header) pay.Proof { return pay.Proof{Header: h, For: real.For} }
	signed := func(change func(*x402test.Authorization)) pay.Proof { return with(w.Pay(tb, head, change)) }
	edited := func(change func(map[string]any)) pay.Proof { return with(x402test.Change(tb, real.Header, change)) }
	in := func(v map[string]any, path ...string) map[string]any {
		for _, k := range path {
			v = v[k].(map[string]any)
		}
		return v
	}
	text := func(s string) pay.Proof { return with(http.Header{FieldSignature: {s}}) }
	other := *real.For
	other.Order = "another"
	return map[string]pay.Proof{
		"no payment":       with(http.Header{}),
		"no order":         {Header: real.Header},
		"another order":    {Header: real.Header, For: &other},
		"no base64":        text("%%%"),
		"no JSON":          text(base64.StdEncoding.EncodeToString([]byte("{"))),
		"an array":         text(base64.StdEncoding.EncodeToString([]byte("[]"))),
		"null":             text(base64.StdEncoding.EncodeToString([]byte("null"))),
		"wrong types":      edited(func(v map[string]any) { in(v, "payload", "authorization")["value"] = 12500000 }),
		"too long":         text(strings.Repeat("A", MaxSignature+4)),
		"version 1":        edited(func(v map[string]any) { v["x402Version"] = 1 }),
		"a version's text": edited(func(v map[string]any) { v["x402Version"] = "2" }),
		"another resource": edited(func(v map[string]any) { in(v, "resource")["url"] = "https://market.example/other" }),
		"another network":  edited(func(v map[string]any) { in(v, "accepted")["network"] = "eip155:1" }),
		"another asset":    edited(func(v map[string]any) { in(v, "accepted")["asset"] = x402test.PayTo }),
		"more accepted":    edited(func(v map[string]any) { in(v, "accepted")["more"] = true }),
		"cheaper":          edited(func(v map[string]any) { in(v, "accepted")["amount"] = "1" }),
		"signature":        edited(func(v map[string]any) { in(v, "payload")["signature"] = "0x" + strings.Repeat("11", 65) }),
		"no signature":     edited(func(v map[string]any) { delete(in(v, "payload"), "signature") }),
		"another nonce":    edited(func(v map[string]any) { in(v, "payload", "authorization")["nonce"] = "0x" + strings.Repeat("22", 32) }),
		"another payer":    edited(func(v map[string]any) { in(v, "payload", "authorization")["from"] = x402test.NewWallet("eve").Address }),
		"a short nonce":    signed(func(a *x402test.Authorization) { a.Nonce = "0x01" }),
		"to oneself":       signed(func(a *x402test.Authorization) { a.To = w.Address }),
		"too little":       signed(func(a *x402test.Authorization) { a.Value = "12499999" }),
		"in hexadecimal":   signed(func(a *x402test.Authorization) { a.Value = "0xbebc20" }),
		"expired":          signed(func(a *x402test.Authorization) { a.ValidBefore = strconv.FormatInt(time.Now().Unix()-1, 10) }),
		"for ever":         signed(func(a *x402test.Authorization) { a.ValidBefore = "4102444800" }),
		"not yet":          signed(func(a *x402test.Authorization) { a.ValidAfter = strconv.FormatInt(time.Now().Unix()+100, 10) }),
		"no funds":         with(x402test.NewWallet("poor").Pay(tb, head, nil)),
	}
}

// desk is a provider with its surroundings, and a clock that a test moves.
type desk struct {
	t    *testing.T
	db   *tables.DB
	side *x402test.Side
	p    *Provider
	w    *x402test.Wallet
	late time.Duration
	mu   sync.Mutex
}

func newDesk(t *testing.T, db *tables.DB) *desk {
	d := &desk{t: t, db: db, side: x402test.New(t), w: x402test.NewWallet("agent")}
	c := config(d.side.URL)
	c.Now = func() time.Time {
		d.mu.Lock()
		defer d.mu.Unlock()
		return time.Now().Add(d.late)
	}
	d.p = open(t, db, c)
	d.side.Fund(d.w.Address, 100_000_000)
	return d
}

func (d *desk) wait(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late += by
}

func (d *desk) proof(order string) pay.Proof {
	r := pay.Request{Key: order, Payer: "ada", Order: order, Money: ledger.Money{Minor: 1250, Currency: "EUR"}}
	return pay.Proof{Header: d.w.Pay(d.t, begun(d.t, d.p, r), nil), For: &r}
}

func (d *desk) book() pay.Book { return pay.Deposits(ledger.New(d.db.Dialect, nil), Name) }

func (d *desk) settle(p pay.Proof, want error) {
	d.t.Helper()
	if err := d.p.Settle(d.t.Context(), p, d.book()); !errors.Is(err, want) {
		d.t.Fatalf("settle: %v, want %v", err, want)
	}
}

func (d *desk) resume() {
	d.t.Helper()
	if err := d.p.Resume(d.t.Context(), d.book()); err != nil {
		d.t.Fatal(err)
	}
}

// has checks ada's balance at the market, and what was moved on the network.
func (d *desk) has(minor, moved int64) {
	d.t.Helper()
	l := ledger.New(d.db.Dialect, nil)
	err := d.db.Read(d.t.Context(), func(tx *sql.Tx) error {
		m, err := l.Balance(d.t.Context(), tx, ledger.Buyer("ada"), "EUR")
		if err == nil && m.Minor != minor {
			d.t.Errorf("ada has %s, want %d", m, minor)
		}
		return errors.Join(err, l.Check(d.t.Context(), tx))
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if got := d.side.BalanceOf(x402test.PayTo); got != moved {
		d.t.Errorf("the operator's address has %d, want %d", got, moved)
	}
}

func each(t *testing.T, f func(*testing.T, *desk)) {
	databases.Each(t, func(t *testing.T, db *tables.DB) { f(t, newDesk(t, db)) })
}

// The network is slow: the payment is on its way, nobody pays twice, and it is booked once the
// facilitator confirms it, through the agent's next request or in the background.
func TestPendingPaymentIsPolled(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.side.Set(func(s *x402test.Side) { s.Pending = 2 })
		p := d.proof("o1")
		d.settle(p, ErrPending)
		d.settle(p, ErrPending)
		d.settle(d.proof("o1"), ErrPending) // another authorization of the order is not sent
		if n := d.side.SettleCount(); n != 1 {
			t.Errorf("it was asked %d times to settle, want 1", n)
		}
		if _, err := d.p.ReceiptOf(t.Context(), "o1"); !errors.Is(err, ErrPending) {
			t.Errorf("what became of it: %v", err)
		}
		d.has(0, 12_500_000)
		for range 2 {
			d.wait(time.Hour / 60)
			d.resume()
		}
		d.has(1250, 12_500_000)
		d.settle(p, nil)
		d.has(1250, 12_500_000)
	})
}

// An answer is lost after the money moved. The facilitator then says that the nonce is used, which
// a payer can also cause without paying: nothing is booked before the operator has looked.
func TestLostAnswerNeedsTheOperator(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.side.Set(func(s *x402test.Side) { s.Lose = 1 })
		p := d.proof("o1")
		d.settle(p, ErrPending)
		d.wait(time.Minute)
		d.settle(p, ErrUnclear)
		d.settle(d.proof("o1"), ErrPending)
		d.has(0, 12_500_000)
		all, err := d.p.Waiting(t.Context())
		if err != nil || len(all) != 1 || all[0].Order != "o1" || all[0].Address != d.w.Address {
			t.Fatalf("what waits: %+v, %v", all, err)
		}
		tx := "0x" + strings.Repeat("ab", 32)
		for range 2 {
			if err := d.p.Resolve(t.Context(), all[0].ID, tx, false); err != nil {
				t.Fatal(err)
			}
		}
		if id, err := d.p.Payout(t.Context(), "by what came in", x402test.PayTo, ledger.Money{Minor: 100, Currency: "EUR"}); err != nil {
			t.Error(err)
		} else if err := d.p.Resolve(t.Context(), id, tx, true); !errors.Is(err, ErrNone) {
			t.Errorf("a payout by the transaction of a payment: %v", err)
		}
		if err := d.p.Resolve(t.Context(), all[0].ID, "", false); !errors.Is(err, ErrNone) {
			t.Errorf("taken back: %v", err)
		}
		d.resume()
		d.has(1250, 12_500_000)
		d.settle(p, nil)
		r, err := d.p.ReceiptOf(t.Context(), "o1")
		if err != nil || !r.Success || r.Transaction != tx {
			t.Errorf("the receipt: %+v, %v", r, err)
		}
	})
}

// A payer uses up the nonce between verification and settlement: nothing is booked, and once the
// operator says so the order can be paid again.
func TestCancelledAuthorizationPaysNothing(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		p := d.proof("o1")
		m, err := d.p.read(p.Header, *p.For)
		if err != nil {
			t.Fatal(err)
		}
		d.side.BeforeSettle = sync.OnceFunc(func() { d.side.Cancel(m.auth.From, m.auth.Nonce) })
		d.settle(p, ErrUnclear)
		d.has(0, 0)
		if err := d.p.Resolve(t.Context(), m.id, "", false); !errors.Is(err, ErrLive) {
			t.Fatalf("the operator says never before its end: %v", err)
		}
		d.wait((maxTimeout + 60) * time.Second)
		if err := d.p.Resolve(t.Context(), m.id, "", false); !errors.Is(err, ErrLive) {
			t.Fatalf("the operator says never while the network may be late: %v", err)
		}
		d.wait(grace * time.Second)
		if err := d.p.Resolve(t.Context(), m.id, "", false); err != nil {
			t.Fatal(err)
		}
		d.settle(p, pay.ErrProof)
		next := d.proof("o1")
		next.Header = d.w.Pay(t, begun(t, d.p, *next.For), func(a *x402test.Authorization) {
			a.ValidBefore = strconv.FormatInt(d.p.c.Now().Unix()+maxTimeout, 10)
		})
		d.settle(next, nil)
		d.has(1250, 12_500_000)
	})
}

// No answer at all until the authorization has ended: the operator has to decide.
func TestNoAnswerNeedsTheOperator(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.side.Set(func(s *x402test.Side) { s.Drop = 1000 })
		d.settle(d.proof("o1"), ErrPending)
		d.wait(maxTimeout * time.Second)
		d.resume()
		if _, err := d.p.ReceiptOf(t.Context(), "o1"); !errors.Is(err, ErrPending) {
			t.Errorf("before its end: %v", err)
		}
		d.wait((grace + 60) * time.Second)
		d.resume()
		if _, err := d.p.ReceiptOf(t.Context(), "o1"); !errors.Is(err, ErrUnclear) {
			t.Errorf("after its end: %v", err)
		}
		d.has(0, 0)
	})
}

// An amount is converted exactly, or refused.
func TestAmount(t *testing.T) {
	for _, c := range []struct {
		currency ledger.Currency
		decimals int
		minor    int64
		want     string
	}{
		{"USD", 6, 500, "5000000"}, {"USD", 18, ledger.MaxAmount, "10000000000000000000000000000000"}, {"USD", 2, 1, "1"}, {"USD", 0, 500, "5"},
		{"USD", 0, 501, ""}, {"USD", 1, 15, ""}, {"JPY", 6, 3, "3000000"}, {"USDC", 6, 7, "7"}, {"USD", 6, 0, ""}, {"USD", 6, -1, ""},
	} {
		k := config("https://facilitator.example")
		k.Currency, k.Decimals = c.currency, c.decimals
		got, err := open(t, nil, k).Amount(ledger.Money{Minor: c.minor, Currency: c.currency})
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%d of %s in %d decimals: %q, %v, want %q", c.minor, c.currency, c.decimals, got, err, c.want)
		}
	}
	if _, err := open(t, nil, config("https://facilitator.example")).Begin(t.Context(), pay.Request{Order: "o", Money: ledger.Money{Minor: 1, Currency: "USD"}}); !errors.Is(err, ledger.ErrAmount) {
		t.Errorf("another currency: %v", err)
	}
}

// A configuration that can't take payments is refused.
func TestConfiguration(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"http to elsewhere": func(c *Config) { c.Facilitator = "http://facilitator.example" },
		"a password":        func(c *Config) { c.Facilitator = "https://a:b@facilitator.example" },
		"no address":        func(c *Config) { c.PayTo = "0x1" },
		"no asset":          func(c *Config) { c.Asset = "USDC" },
		"no network":        func(c *Config) { c.Network = "base" },
		"no currency":       func(c *Config) { c.Currency = "coins" },
		"no name":           func(c *Config) { c.AssetName = "" },
		"decimals":          func(c *Config) { c.Decimals = 99 },
		"no secret":         func(c *Config) { c.Secret = nil },
	} {
		c := config("https://facilitator.example")
		change(&c)
		if _, err := New(nil, c); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}
