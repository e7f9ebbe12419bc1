package market

import (
	"bytes"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	cloudmarket "github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// aMarket serves a market with a clock, and returns its address and a voucher for 20 EUR.
func aMarket(t *testing.T, now func() time.Time) (m *cloudmarket.Market, url, code string) {
	t.Helper()
	return served(t, now, cloudmarket.Config{DB: database(t)}, nil)
}

// served is aMarket, over a given database and log.
func served(t *testing.T, now func() time.Time, c cloudmarket.Config, log http.Handler) (m *cloudmarket.Market, url, code string) {
	t.Helper()
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	ok(t, err)
	vouchers, err := voucher.New(c.DB, bytes.Repeat([]byte{5}, 32), now)
	ok(t, err)
	if c.Key == nil {
		c.Key = tradetest.MarketKey
	}
	c.Arbiter, c.Vouchers, c.Now = arbiter, vouchers, now
	m, err = cloudmarket.New(c)
	ok(t, err)
	r := relaytest.Serve(t, t.TempDir(), relay.Config{Now: now}, api.Config{Market: m, MarketLog: log, ConnsPerAddress: 10000, Drain: time.Second, Now: now})
	codes, err := m.Issue(t.Context(), "may", 1, ledger.Money{Minor: 2000, Currency: "EUR"}, now().Add(24*time.Hour))
	ok(t, err)
	return m, r.URL, codes[0]
}

// publishes lists a period of a subscription for 2 EUR.
func publishes(t *testing.T, m *cloudmarket.Market, number uint32, was *trade.Offer, at time.Time) *trade.Offer {
	t.Helper()
	items, ms := tradetest.Bundle(t)
	key := tradetest.Key(t)
	if was != nil {
		var err error
		key = seal.NewKey()
		items, err = bundle.Seal(key, ms)
		ok(t, err)
	}
	l := tradetest.Listing(t, items, func(l *trade.Listing) {
		l.Number, l.Price, l.Period, l.Commitment, l.Created = number, 200, 30*24*60*60, bundle.Commitment(key), at.Unix()
		if was != nil {
			l.First, l.Prev = was.ID(), was.Hash
		}
	})
	_, err := m.Publish(t.Context(), &trade.Publication{Listing: l.Signed, Items: items}, tradetest.Seller.Key)
	ok(t, err)
	return l
}

// before calls a function once, before the first request is sent.
type before struct{ call func() }

func (b *before) RoundTrip(r *http.Request) (*http.Response, error) {
	if call := b.call; call != nil {
		b.call = nil
		call()
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A check that read the orders before another process paid for the last period pays for no
// further one, however long it was delayed.
func TestConcurrentChecksPayAPeriodOnce(t *testing.T) {
	ctx := t.Context()
	var ahead atomic.Int64 // nanoseconds
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	m, url, code := aMarket(t, now)
	first := publishes(t, m, 1, nil, now())

	away := &before{}
	slow := &Buyer{Dir: t.TempDir(), Now: now, HTTP: &http.Client{Transport: away}}
	quick := &Buyer{Dir: slow.Dir, Now: now}
	ok(t, quick.WithMarket(ctx, url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error { _, err := m.Deposit(ctx, code); return err }))
	_, err := quick.Subscribe(ctx, url, first, 200, "EUR", 1, time.Time{})
	ok(t, err)
	away.call = func() {
		if _, err := quick.Renew(ctx); err != nil {
			t.Errorf("the other look: %v", err)
		}
		ahead.Store(int64(31 * 24 * time.Hour))
		publishes(t, m, 2, first, now())
	}
	if _, err := slow.Renew(ctx); err != nil {
		t.Errorf("the look that was away: %v", err)
	}
	orders, err := quick.Orders()
	ok(t, err)
	if len(orders) != 1 || orders[0].State.Offer.Hash != first.Hash || !orders[0].State.Phase.Paid() {
		t.Errorf("one period was decided, and there are %d orders", len(orders))
	}
}

// A period that was ordered and not paid, and that the market has forgotten since, does not
// block later ones.
func TestForgottenUnpaidPeriodBlocksNothing(t *testing.T) {
	ctx := t.Context()
	var ahead atomic.Int64 // the market's own sweep also asks for the time
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	m, url, code := aMarket(t, now)
	first := publishes(t, m, 1, nil, now())
	b := &Buyer{Dir: t.TempDir(), Now: now}
	_, err := b.Subscribe(ctx, url, first, 200, "EUR", 2, time.Time{})
	ok(t, err)
	_, err = b.Renew(ctx) // there is no money to pay for it
	orders, read := b.Orders()
	if ok(t, read); len(orders) != 1 || orders[0].State.Phase != trade.Ordered {
		t.Fatalf("%v, %d orders", err, len(orders))
	}
	ok(t, b.WithMarket(ctx, url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error { _, err := m.Deposit(ctx, code); return err }))
	for range 2 { // it lapses and is forgotten
		ahead.Add(int64(31 * 24 * time.Hour))
		ok(t, m.Sweep(ctx))
	}
	second := publishes(t, m, 2, first, now())
	_, err = b.Renew(ctx)
	ok(t, err)
	orders, err = b.Orders()
	if ok(t, err); len(orders) != 2 {
		t.Fatalf("%d orders", len(orders))
	}
	for _, o := range orders {
		if o.State.Phase.Paid() != (o.State.Offer.Hash == second.Hash) {
			t.Errorf("period %d is %s", o.State.Offer.Number, o.State.Phase)
		}
	}
}
