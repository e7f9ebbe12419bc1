package node_test

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	cloudmarket "github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// marketAt serves a market with a clock, and returns its address and a voucher for 20 EUR.
func marketAt(t *testing.T, now func() time.Time) (url, code string) {
	t.Helper()
	return marketWith(t, tradetest.MarketKey, now)
}

func marketWith(t *testing.T, key ed25519.PrivateKey, now func() time.Time) (url, code string) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db := tabletest.SQLite(t)
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	ok(err)
	vouchers, err := voucher.New(db, bytes.Repeat([]byte{5}, 32), now)
	ok(err)
	m, err := cloudmarket.New(cloudmarket.Config{DB: db, Key: key, Arbiter: arbiter, Vouchers: vouchers, Now: now})
	ok(err)
	r := relaytest.Serve(t, t.TempDir(), relay.Config{Now: now}, api.Config{Market: m, Drain: time.Second, Now: now})
	codes, err := m.Issue(t.Context(), "may", 1, ledger.Money{Minor: 2000, Currency: "EUR"}, now().Add(24*time.Hour))
	ok(err)
	return r.URL, codes[0]
}

// A bundle that grows: each period's items go to those who paid for it. A buyer who stops
// paying keeps what there was, and gets no more; a period without anything new costs nothing.
func TestThreatSubscriptionReadUnpaid(t *testing.T) {
	ctx := t.Context()
	seller := newDevice(t, "", 71)
	var ahead atomic.Int64 // nanoseconds
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	url, code := marketAt(t, now)
	seller.init()
	c := serve.InProcess(serve.New(serve.Options{Services: seller.Services()}))
	defer c.Close()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tell := func(text string) {
		t.Helper()
		no := false
		_, err := c.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Tags: []string{"garden"}})
		ok(err)
	}
	periods := []string{"Tomatoes want water at the root.", "The basil froze in May.", "Beans want poles before June.", "Peas came early."}
	tell(periods[0])
	listed, err := c.PublishListing(ctx, serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"garden"}}, Market: url, Title: "A garden, month by month", Categories: []string{"garden"},
		Languages: []string{"en"}, Price: "2.00 EUR", EveryDays: 30})
	ok(err)
	sales := func() {
		t.Helper()
		_, err := c.Sales(ctx)
		ok(err)
	}

	buyer := &market.Buyer{Dir: t.TempDir(), Now: now}
	subscribe := func(b *market.Buyer, most uint64, periods uint32) error {
		return b.WithMarket(ctx, url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
			_, l, err := m.Show(ctx, listed.ID)
			if err == nil {
				_, err = b.Subscribe(t.Context(), url, l, most, "EUR", periods, time.Time{})
			}
			return err
		})
	}
	if err := subscribe(buyer, 100, 3); err == nil {
		t.Error("subscribed for less than it costs")
	}
	ok(subscribe(buyer, 200, 3))
	if _, err := buyer.Renew(ctx); err == nil || !strings.Contains(err.Error(), "not paid") {
		t.Errorf("renewed without money: %v", err)
	}
	ok(buyer.WithMarket(ctx, url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error { _, err := m.Deposit(ctx, code); return err }))
	spend := func() (left int64) {
		t.Helper()
		ok(buyer.WithMarket(ctx, url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
			b, err := m.Balance(ctx)
			left = b[0].Spend
			return err
		}))
		return left
	}
	// has renews, delivers and fetches, and returns what the buyer can read.
	has := func() (texts []string) {
		t.Helper()
		for range 2 { // the second time pays nothing
			ok(buyer.Fetch(ctx))
			sales()
		}
		ok(buyer.Fetch(ctx))
		list, err := buyer.Orders()
		ok(err)
		for _, o := range list {
			if len(o.Items) == 0 {
				continue
			}
			ms, err := buyer.Open(o)
			ok(err)
			for _, m := range ms {
				texts = append(texts, m.Text)
			}
		}
		slices.Sort(texts)
		return texts
	}
	want := func(when string, left int64, texts ...string) {
		t.Helper()
		got := has()
		slices.Sort(texts)
		if !slices.Equal(got, texts) || spend() != left {
			t.Fatalf("%s: the buyer has %q and %d cents, want %q and %d", when, got, spend(), texts, left)
		}
	}
	month := func() { seller.skew = time.Duration(ahead.Add(int64(31 * 24 * time.Hour))) }

	want("the first period", 1800, periods[0])
	tell(periods[1])
	want("within the period", 1800, periods[0])
	month()
	sales()
	want("the second period", 1600, periods[:2]...)
	month()
	sales()
	want("nothing new", 1600, periods[:2]...)
	tell(periods[2])
	sales()
	want("learnt after a period without anything new", 1600, periods[:2]...)
	month()
	sales()
	want("the third period", 1400, periods[:3]...)
	tell(periods[3])
	month()
	sales()
	want("three periods are paid", 1400, periods[:3]...)
	all, err := buyer.Subscriptions()
	ok(err)
	if len(all) != 1 || all[0].Last != trade.End || all[0].Ended == 0 {
		t.Errorf("%+v", all[0])
	}
	if all, err = buyer.Renew(ctx); err != nil || all[0].Why != "3 periods are paid" {
		t.Errorf("after its end: %+v, %v", all[0], err)
	}

	// A file that can't be read does not hold back other subscriptions, and does not cause
	// more to be paid.
	careless := &market.Buyer{Dir: t.TempDir(), Now: now}
	ok(subscribe(careless, 200, 5))
	ok(os.MkdirAll(filepath.Join(careless.Dir, "orders"), 0o700))
	for _, name := range []string{"orders/00.bought", "subscriptions/00.json"} {
		ok(os.WriteFile(filepath.Join(careless.Dir, name), []byte("junk"), 0o600))
	}
	if _, err := careless.Renew(ctx); err == nil || !strings.Contains(err.Error(), "not paid") || !strings.Contains(err.Error(), "00.json") || !strings.Contains(err.Error(), "00.bought") {
		t.Errorf("with files that can't be read: %v", err)
	}
	ok(subscribe(careless, 200, 1))
	if _, err := careless.Renew(ctx); err == nil || strings.Contains(err.Error(), "not paid") || !strings.Contains(err.Error(), "can't be read") {
		t.Errorf("the order that can't be read may be the only one: %v", err)
	}

	// A price that differs from the one agreed to lets the subscription lapse; an ended
	// subscription buys nothing.
	late := &market.Buyer{Dir: t.TempDir(), Now: now}
	ok(subscribe(late, 200, 5))
	_, err = late.Unsubscribe(t.Context(), listed.ID.String()[:10])
	ok(err)
	ok(late.Fetch(ctx))
	if list, err := late.Orders(); err != nil || len(list) != 0 {
		t.Errorf("%d orders after it was ended: %v", len(list), err)
	}
}
