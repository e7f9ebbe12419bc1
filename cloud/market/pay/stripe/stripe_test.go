package stripe

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/paytest"
	"github.com/locket-dev/locket/cloud/market/pay/stripe/stripetest"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/tabletest"
)

var databases tabletest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

func open(tb testing.TB, db *tables.DB, api string) *Provider {
	tb.Helper()
	p, err := New(db, Config{Key: "sk_test_123", Webhook: stripetest.Secret, Success: "https://market.example/paid", Cancel: "https://market.example/", API: api})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

var eur = ledger.Money{Minor: 1250, Currency: "EUR"}

// begun begins a payment and makes it on Stripe's page.
func begun(tb testing.TB, s *stripetest.Side, p *Provider, key, payer string, m ledger.Money) string {
	tb.Helper()
	step, err := p.Begin(tb.Context(), pay.Request{Key: key, Payer: payer, Order: "o1", Money: m})
	if err != nil {
		tb.Fatal(err)
	}
	return s.Pay(step.URL)
}

// The suite names a payee, which is a connected account at Stripe.
type payee struct{ *Provider }

func (p payee) Payout(ctx context.Context, key, to string, m ledger.Money) (string, error) {
	return p.Provider.Payout(ctx, key, "acct_"+to, m)
}

func TestProvider(t *testing.T) {
	paytest.Run(t, databases.Each, func(tb testing.TB, db *tables.DB) paytest.Side {
		s := stripetest.New(tb)
		p, n := open(tb, db, s.URL), 0
		return paytest.Side{
			Provider: payee{p},
			Reopen:   func(tb testing.TB) pay.Provider { return payee{open(tb, db, s.URL)} },
			Pay: func(tb testing.TB, payer string, m ledger.Money) pay.Proof {
				n++
				return stripetest.Completed(begun(tb, s, p, fmt.Sprint("payment ", n), payer, m))
			},
			Forge: func(tb testing.TB, real pay.Proof) map[string]pay.Proof {
				other := func(change func(*pay.Proof)) pay.Proof {
					c := pay.Proof{Header: real.Header.Clone(), Body: bytes.Clone(real.Body)}
					change(&c)
					return c
				}
				header := real.Header.Get("Stripe-Signature")
				return map[string]pay.Proof{
					"unsigned":        {Header: http.Header{}, Body: real.Body},
					"another secret":  stripetest.Signed(real.Body, "whsec_other", time.Now()),
					"late":            stripetest.Signed(real.Body, stripetest.Secret, time.Now().Add(-tolerance-2*time.Second)),
					"early":           stripetest.Signed(real.Body, stripetest.Secret, time.Now().Add(tolerance+2*time.Second)),
					"another body":    other(func(c *pay.Proof) { c.Body = bytes.Replace(c.Body, []byte("pi_0"), []byte("pi_1"), 1) }),
					"another time":    other(func(c *pay.Proof) { c.Header.Set("Stripe-Signature", strings.Replace(header, "t=1", "t=2", 1)) }),
					"the old scheme":  other(func(c *pay.Proof) { c.Header.Set("Stripe-Signature", strings.Replace(header, "v1=", "v0=", 1)) }),
					"two times":       other(func(c *pay.Proof) { c.Header.Set("Stripe-Signature", header+",t=5") }),
					"a live one":      stripetest.Signed(bytes.Replace(real.Body, []byte(`"livemode":false`), []byte(`"livemode":true`), 1), stripetest.Secret, time.Now()),
					"no JSON":         stripetest.Signed([]byte("{"), stripetest.Secret, time.Now()),
					"another address": stripetest.Signed(bytes.Replace(real.Body, []byte(`"pi_0"`), []byte(`"pi_0/../x"`), 1), stripetest.Secret, time.Now()),
				}
			},
			PaidOut: func(_ testing.TB, _, said string) ledger.Money { return s.Transferred(said) },
		}
	})
}

// Webhooks come repeatedly, in any order, and for payments that never came.
func TestWebhooks(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		s := stripetest.New(t)
		p := open(t, db, s.URL)
		l := ledger.New(db.Dialect, nil)
		book := pay.Deposits(l, Name)
		balance := func(a ledger.Account) (n int64) {
			if err := db.Read(t.Context(), func(tx *sql.Tx) error {
				m, err := l.Balance(t.Context(), tx, a, "EUR")
				n = m.Minor
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		ada := ledger.Buyer("ada")
		intent := begun(t, s, p, "k", "ada", eur)
		refund := stripetest.Event("refund.updated", map[string]any{"id": "re_1", "payment_intent": intent, "amount": 250, "currency": "eur", "status": "succeeded"})
		if err := p.Settle(t.Context(), refund, book); !errors.Is(err, ledger.ErrFunds) { // Stripe will send it again
			t.Fatalf("a refund before its payment: %v", err)
		}
		for _, e := range []pay.Proof{
			stripetest.Completed(intent),
			stripetest.Event("payment_intent.succeeded", map[string]any{"id": intent}), // reports the same payment
			refund, refund,
			stripetest.Event("refund.created", map[string]any{"id": "re_2", "payment_intent": intent, "amount": 100, "currency": "eur", "status": "pending"}),
			stripetest.Event("customer.created", map[string]any{"id": "cus_1"}),
			stripetest.Event("checkout.session.completed", map[string]any{"id": "cs_test_1", "mode": "setup", "payment_intent": nil, "status": "complete"}), // belongs to the operator's other business
			stripetest.Completed(intent),
		} {
			if err := p.Settle(t.Context(), e, book); err != nil {
				t.Fatal(err)
			}
		}
		if n := balance(ada); n != 1000 {
			t.Errorf("ada has %d", n)
		}
		// A page that was filled in and not paid, a payment that was not begun here, and one that
		// is unknown to Stripe.
		step, err := p.Begin(t.Context(), pay.Request{Key: "k2", Payer: "ada", Money: eur})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Settle(t.Context(), stripetest.Completed(s.Intent(step.URL)), book); err != nil {
			t.Error(err)
		}
		if err := p.Settle(t.Context(), stripetest.Completed(begun(t, s, p, "k3", "", eur)), book); err != nil {
			t.Error(err)
		}
		if err := p.Settle(t.Context(), stripetest.Completed("pi_99"), book); err == nil {
			t.Error("a payment that Stripe does not know was taken")
		}
		if n := balance(ada); n != 1000 {
			t.Errorf("ada has %d", n)
		}
		// A payer who has spent the money and reverses the payment at the bank costs the operator,
		// once.
		if err := db.Change(t.Context(), func(tx *sql.Tx) error {
			return errors.Join(l.Hold(t.Context(), tx, "h", "o1", "ada", ledger.Money{Minor: 1000, Currency: "EUR"}),
				l.Release(t.Context(), tx, "r", "o1", nil, ledger.Money{Minor: 1000, Currency: "EUR"}))
		}); err != nil {
			t.Fatal(err)
		}
		dispute := stripetest.Event("charge.dispute.funds_withdrawn", map[string]any{"id": "du_1", "payment_intent": intent, "amount": 1000, "currency": "eur", "status": "needs_response"})
		for range 2 {
			if err := p.Settle(t.Context(), dispute, book); err != nil {
				t.Fatal(err)
			}
			if err := p.Settle(t.Context(), stripetest.Completed(begun(t, s, p, "k4", "ada", eur)), book); err != nil { // now ada would have the money
				t.Fatal(err)
			}
		}
		if a, f := balance(ada), balance(ledger.Fees()); a != 1250 || f != 0 {
			t.Errorf("ada has %d, the operator %d", a, f)
		}
	})
}

// A lost answer pays nobody twice, and a payee who can't be paid is declined permanently.
func TestPayout(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		s := stripetest.New(t)
		s.Fails = 1
		p := open(t, db, s.URL)
		if _, err := p.Payout(t.Context(), "k", "acct_eve", eur); !errors.Is(err, ErrPending) {
			t.Fatalf("a lost answer: %v", err)
		}
		s.Forget() // a day later
		if id, err := p.Payout(t.Context(), "k", "acct_eve", eur); err != nil || id != "tr_0" || len(s.Transfers) != 1 {
			t.Errorf("again: %q, %v, %d transfers", id, err, len(s.Transfers))
		}
		for range 2 {
			if _, err := p.Payout(t.Context(), "k2", "acct_nobody", eur); !errors.Is(err, pay.ErrDeclined) {
				t.Errorf("nobody: %v", err)
			}
		}
		s.Accounts["acct_nobody"] = true
		if _, err := p.Payout(t.Context(), "k2", "acct_nobody", eur); !errors.Is(err, pay.ErrDeclined) {
			t.Errorf("what was declined was paid: %v", err)
		}
		if _, err := p.Payout(t.Context(), "k3", "acct_eve", ledger.Money{Minor: 5, Currency: "ISK"}); !errors.Is(err, ledger.ErrAmount) {
			t.Errorf("a currency that Stripe counts otherwise: %v", err)
		}
	})
}

// stripe-mock refuses what Stripe's API does not have. This checks that the counterpart can refuse.
func TestStripeMockRefuses(t *testing.T) {
	s := stripetest.New(t)
	p := open(t, tabletest.SQLite(t), s.URL)
	var into any
	for name, form := range map[string]map[string][]string{
		"no mode's value": {"mode": {"gift"}, "success_url": {"https://x.example"}},
		"no such field":   {"mode": {"payment"}, "colour": {"red"}},
		"no number":       {"mode": {"payment"}, "line_items[0][quantity]": {"many"}},
	} {
		if err := p.call(t.Context(), http.MethodPost, "/v1/checkout/sessions", name, form, &into); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	p.c.Key = "key"
	if err := p.call(t.Context(), http.MethodGet, "/v1/payment_intents/pi_0", "", nil, &into); err == nil {
		t.Error("a wrong key was taken")
	}
}

func TestAnswers(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"an error":     func(w http.ResponseWriter) { w.WriteHeader(500) },
		"another page": func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"no end": func(w http.ResponseWriter) {
			_, _ = w.Write(append([]byte(`{"id":"`), bytes.Repeat([]byte("x"), 2*maxAnswer)...))
		},
	} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		defer h.Close()
		if _, err := open(t, tabletest.SQLite(t), h.URL).Begin(t.Context(), pay.Request{Key: "k", Payer: "a", Money: eur}); err == nil || errors.Is(err, pay.ErrDeclined) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []Config{{}, {Key: "pk"}, {Key: "sk_test_1"}, {Key: "sk_test_1", Webhook: stripetest.Secret}, {Key: "sk_test_1", Webhook: stripetest.Secret, Success: "ftp://x/", Cancel: "https://x/"}} {
		if _, err := New(nil, c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
