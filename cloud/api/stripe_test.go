package api_test

import (
	"bytes"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/stripe"
	"github.com/locket-dev/locket/cloud/market/pay/stripe/stripetest"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// An order is paid on Stripe's page, and funded once by a webhook that Stripe signed, however often
// and in whatever order webhooks come. Forged or late ones fund nothing. Money for an order that
// can't be funded any more belongs to its buyer.
func TestStripePaysAnOrder(t *testing.T) {
	db, side := tabletest.SQLite(t), stripetest.New(t)
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	if err != nil {
		t.Fatal(err)
	}
	vouchers, err := voucher.New(db, bytes.Repeat([]byte{5}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	cards, err := stripe.New(db, stripe.Config{Key: "sk_test_123", Webhook: stripetest.Secret, Success: "https://market.example/paid", Cancel: "https://market.example/left", API: side.URL})
	if err != nil {
		t.Fatal(err)
	}
	log := new(logbook.Book) // level Info and above
	m, err := market.New(market.Config{DB: db, Key: tradetest.MarketKey, Arbiter: arbiter, Vouchers: vouchers, Pages: cards, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, relay.Config{}, func(c *api.Config) { c.Market = m })
	ctx := t.Context()
	seller, buyer, stranger := s.trader(2), s.trader(3), s.trader(9)
	terms, err := buyer.Terms(ctx)
	s.ok(err)
	if len(terms.Pays) != 2 || terms.Pays[1] != "stripe" {
		t.Fatalf("ways to pay: %v", terms.Pays)
	}
	items, _ := tradetest.Bundle(t)
	l := tradetest.Listing(t, items, nil)
	s.ok(seller.Publish(ctx, l, items))
	order := func() (trade.Hash, *trade.State, string) {
		t.Helper()
		signed, _, id := tradetest.Order(t, l, seal.NewIdentity())
		_, st, err := buyer.Order(ctx, signed)
		s.ok(err)
		page, err := buyer.Checkout(ctx, id, "")
		s.ok(err)
		if !strings.HasPrefix(page.URL, "https://checkout.stripe.com/") {
			t.Fatalf("the page is %q", page.URL)
		}
		return id, st, page.URL
	}
	tell := func(p pay.Proof, want int) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/v1/market/stripe/webhook", bytes.NewReader(p.Body))
		s.ok(err)
		r.Header = p.Header.Clone()
		a, err := http.DefaultClient.Do(r)
		s.ok(err)
		defer a.Body.Close()
		said, err := io.ReadAll(a.Body)
		s.ok(err)
		if a.StatusCode != want {
			t.Errorf("a webhook is answered %s: %s", a.Status, said)
		}
	}
	is := func(id trade.Hash, phase trade.Phase, has int64) {
		t.Helper()
		_, st, err := buyer.Get(ctx, id)
		s.ok(err)
		var have int64
		list, err := buyer.Balance(ctx)
		s.ok(err)
		for _, b := range list {
			have += b.Spend
		}
		if st.Phase != phase || have != has {
			t.Fatalf("the order is %s, want %s; the buyer has %d, want %d", st.Phase, phase, have, has)
		}
		s.ok(db.Read(ctx, func(tx *sql.Tx) error { return ledger.New(db.Dialect, nil).Check(ctx, tx) }))
	}

	id, _, page := order()
	if again, err := buyer.Checkout(ctx, id, ""); err != nil || again.URL != page {
		t.Errorf("the page of the same order: %q, %v", again.URL, err)
	}
	_, err = stranger.Checkout(ctx, id, "")
	s.is(err, remote.ErrNotFound)
	_, err = seller.Checkout(ctx, id, "")
	s.is(err, remote.ErrForbidden)
	tell(stripetest.Completed(side.Intent(page)), 200) // filled in, and not paid
	is(id, trade.Ordered, 0)
	real := stripetest.Completed(side.Pay(page))
	for _, forged := range []pay.Proof{
		{Header: http.Header{}, Body: real.Body},
		stripetest.Signed(real.Body, "whsec_other", time.Now()),
		stripetest.Signed(real.Body, stripetest.Secret, time.Now().Add(-10*time.Minute)),
		{Header: real.Header, Body: bytes.Replace(real.Body, []byte("pi_0"), []byte("pi_1"), 1)},
		stripetest.Signed([]byte("{"), stripetest.Secret, time.Now()),
	} {
		tell(forged, 400)
	}
	if log.String() != "" {
		t.Errorf("strangers fill the log: %s", log)
	}
	tell(pay.Proof{Header: real.Header, Body: bytes.Repeat([]byte(" "), market.MaxEvent+1)}, 413)
	is(id, trade.Ordered, 0)
	tell(stripetest.Event("payment_intent.succeeded", map[string]any{"id": side.Intent(page)}), 200) // before the other one
	is(id, trade.Funded, 0)
	for range 3 {
		tell(real, 200)
	}
	is(id, trade.Funded, 0)
	_, err = buyer.Checkout(ctx, id, "")
	s.is(err, remote.ErrTrade)

	// An order that is paid after it was cancelled.
	late, st, page := order()
	b, _ := tradetest.Step(t, st, trade.Cancel, tradetest.Buyer, func(x *trade.Step) { x.Reason = "no" })
	_, _, err = buyer.Step(ctx, late, b)
	s.ok(err)
	for range 2 {
		tell(stripetest.Completed(side.Pay(page)), 200)
	}
	is(late, trade.Expired, 500)
	for _, path := range []string{"paid", "left"} {
		a, err := http.Get("http://" + s.addr + "/v1/market/stripe/" + path)
		s.ok(err)
		_ = a.Body.Close()
		if a.StatusCode != 200 {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
}
