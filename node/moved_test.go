package node_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// flaky passes requests on to a market, except for those that refuse names.
func flaky(t *testing.T, to string, refuse *atomic.Value) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = r.In.Host }}
	moves := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.Method + " " + r.URL.Path
		if path == "POST /v1/market/moves" {
			if moves++; moves > 1 { // after the listing
				path += " order"
			}
		}
		if no := refuse.Load().(string); no != "" && path == no {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// An interrupted move continues with the same listing, even if its seller made another
// version in between; and an order that is refused does not hold a listing back.
func TestMarketMoveInterrupted(t *testing.T) {
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	seller := newDevice(t, "", 72)
	old, code := marketAt(t, time.Now)
	there, _ := marketWith(t, tradetest.PartyKey(9), time.Now)
	var refuse atomic.Value
	refuse.Store("POST /v1/market/listings")
	to := flaky(t, there, &refuse)
	seller.init()
	c := serve.InProcess(serve.New(serve.Options{Services: seller.Services()}))
	defer c.Close()
	no := false
	_, err := c.Add(ctx, serve.AddRequest{Text: "Tomatoes want water at the root.", Infer: &no, Tags: []string{"garden"}})
	ok(err)
	r := serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"garden"}}, Market: old, Title: "A year in a garden", Categories: []string{"garden"}, Languages: []string{"en"}, Price: "2.00 EUR"}
	listed, err := c.PublishListing(ctx, r)
	ok(err)
	buyer := &market.Buyer{Dir: t.TempDir()}
	ok(buyer.WithMarket(ctx, old, func(m *remote.Market, by trade.Party, _ trade.Terms) error {
		_, l, err := m.Show(ctx, listed.ID)
		ok(err)
		o, err := buyer.Order(ctx, m, by, old, l)
		ok(err)
		return buyer.Pay(ctx, o, code)
	}))
	_, err = c.Sales(ctx)
	ok(err)

	move := func() serve.MovedListing {
		t.Helper()
		all, err := c.MoveListings(ctx, serve.MarketMove{To: to})
		ok(err)
		if len(all) != 1 {
			t.Fatalf("%d listings moved: %+v", len(all), all)
		}
		return all[0]
	}
	if m := move(); m.Why == "" {
		t.Fatalf("the market refused it: %+v", m)
	}
	r.Replaces, r.Price = listed.ID.String(), "3.00 EUR"
	_, err = c.PublishListing(ctx, r)
	ok(err)
	refuse.Store("POST /v1/market/moves order")
	if m := move(); m.Orders != 0 || !strings.Contains(m.Why, "orders did not") {
		t.Fatalf("the market refused the order: %+v", m)
	}
	ok(buyer.WithMarket(ctx, old, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
		s, _, err := m.Show(ctx, listed.ID)
		if err == nil && s.State == trade.Live {
			t.Error("the old market sells it still, for an order that was refused at the other")
		}
		return err
	}))
	_, err = c.Sales(ctx) // forgets what has ended
	ok(err)
	refuse.Store("")
	m := move()
	if m.Why != "" || m.Orders != 1 {
		t.Fatalf("the third try: %+v", m)
	}
	if all, err := c.MoveListings(ctx, serve.MarketMove{To: to}); err != nil || len(all) != 0 {
		t.Errorf("nothing is left, and it moved %+v: %v", all, err)
	}
	ok(buyer.WithMarket(ctx, to, func(at *remote.Market, _ trade.Party, _ trade.Terms) error {
		_, all, err := at.Search(ctx, url.Values{})
		if err == nil && (len(all) != 1 || all[0].ID() != m.Now || all[0].Price != 300) {
			t.Errorf("%d listings at the other market, want the one of 3.00: %+v", len(all), all)
		}
		return err
	}))
}
