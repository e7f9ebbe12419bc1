package api_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// withMarket runs a relay with a market; changes alter its configuration.
func withMarket(t *testing.T, changes ...func(*api.Config)) *service {
	db := tabletest.SQLite(t)
	text, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	if err != nil {
		t.Fatal(err)
	}
	vouchers, err := voucher.New(db, bytes.Repeat([]byte{5}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := synclog.LogSigner("market.test", tradetest.MarketKey)
	if err != nil {
		t.Fatal(err)
	}
	log, err := translog.New(db, signer)
	if err != nil {
		t.Fatal(err)
	}
	m, err := market.New(market.Config{DB: db, Key: tradetest.MarketKey, Arbiter: text, Vouchers: vouchers, Log: log, LogName: "market.test"})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, relay.Config{}, func(c *api.Config) {
		c.Market, c.MarketLog = m, log.Handler()
		for _, change := range changes {
			change(c)
		}
	})
	s.tables, s.translog = db, log
	return s
}

// trader returns a client of the market for the party with a number.
func (s *service) trader(n byte) *remote.Market {
	s.t.Helper()
	r, err := remote.New("http://"+s.addr, remote.Option{})
	s.ok(err)
	s.t.Cleanup(r.Close)
	return r.Market(tradetest.Party(n).Key, httpsig.KeySigner(tradetest.PartyKey(n)))
}

// sold publishes a listing of items as the seller, and orders it and pays for it as the buyer.
func (s *service) sold(items [][]byte) (*trade.Offer, *trade.State) {
	s.t.Helper()
	ctx, l := s.t.Context(), tradetest.Listing(s.t, items, nil)
	s.ok(s.trader(2).Publish(ctx, l, items))
	signed, _, id := tradetest.Order(s.t, l, seal.NewIdentity())
	buyer := s.trader(3)
	_, _, err := buyer.Order(ctx, signed)
	s.ok(err)
	codes, err := s.trader(1).Issue(ctx, trade.Issue{Batch: "first", Count: 1, Minor: 500, Currency: "EUR", Until: time.Now().Add(time.Hour).Unix()})
	s.ok(err)
	_, st, err := buyer.Pay(ctx, id, trade.Payment{Voucher: codes.Codes[0]})
	s.ok(err)
	return l, st
}

func TestMarket(t *testing.T) {
	s := withMarket(t)
	ctx := t.Context()
	operator, seller, buyer, stranger := s.trader(1), s.trader(2), s.trader(3), s.trader(9)
	terms, err := stranger.Terms(ctx)
	s.ok(err)
	if terms.Market != tradetest.Market.Key {
		t.Fatal("another market")
	}
	items, _ := tradetest.Bundle(t)
	l := tradetest.Listing(t, items, nil)
	s.ok(seller.Publish(ctx, l, items))
	s.is(stranger.Publish(ctx, l, items), remote.ErrForbidden)
	s.is(seller.Publish(ctx, l, items[1:]), remote.ErrTrade)
	f, ls, err := stranger.Search(ctx, url.Values{"q": {"gardens"}, "category": {"garden"}, "limit": {"5"}})
	s.ok(err)
	if f.Total != 1 || ls[0].Hash != l.Hash {
		t.Fatalf("%+v", f)
	}
	_, _, err = stranger.Search(ctx, url.Values{"most": {"cheap"}})
	s.is(err, remote.ErrRefused)

	signed, _, id := tradetest.Order(t, l, seal.NewIdentity())
	_, _, err = stranger.Order(ctx, signed)
	s.is(err, remote.ErrForbidden)
	_, st, err := buyer.Order(ctx, signed)
	s.ok(err)
	if st.Phase != trade.Ordered {
		t.Fatal(st.Phase)
	}
	issue := trade.Issue{Batch: "first", Count: 1, Minor: 500, Currency: "EUR", Until: time.Now().Add(time.Hour).Unix()}
	_, err = seller.Issue(ctx, issue)
	s.is(err, remote.ErrForbidden)
	codes, err := operator.Issue(ctx, issue)
	s.ok(err)
	_, _, err = buyer.Pay(ctx, id, trade.Payment{Voucher: "00000-00000-00000-00000"})
	s.is(err, remote.ErrTrade)
	_, st, err = buyer.Pay(ctx, id, trade.Payment{Voucher: codes.Codes[0]})
	s.ok(err)
	if st.Phase != trade.Funded {
		t.Fatal(st.Phase)
	}
	_, _, err = stranger.Get(ctx, id)
	s.is(err, remote.ErrNotFound)
	_, err = stranger.Bundle(ctx, st)
	s.is(err, remote.ErrNotFound)
	_, waiting, err := seller.Orders(ctx, "seller", trade.Funded, 0)
	s.ok(err)
	if len(waiting) != 1 || waiting[0].ID != id {
		t.Fatal("the seller does not see the order")
	}
	b, _ := tradetest.Step(t, st, trade.Deliver, tradetest.Seller, nil)
	_, st, err = seller.Step(ctx, id, b)
	s.ok(err)
	_, err = buyer.Bundle(ctx, st)
	s.ok(err)
	b, _ = tradetest.Step(t, st, trade.Accept, tradetest.Seller, nil)
	_, _, err = seller.Step(ctx, id, b)
	s.is(err, remote.ErrForbidden)
	b, _ = tradetest.Step(t, st, trade.Accept, tradetest.Buyer, nil)
	_, st, err = buyer.Step(ctx, id, b)
	s.ok(err)
	if st.Phase != trade.Accepted || st.Paid != 500 {
		t.Fatalf("%s, %d paid", st.Phase, st.Paid)
	}
	_, err = operator.Complaints(ctx)
	s.ok(err)
	_, err = seller.Complaints(ctx)
	s.is(err, remote.ErrForbidden)
	s.is(seller.TakeDown(ctx, trade.Notice{Version: 1, Listing: l.ID(), Reason: "mine", At: 1}), remote.ErrForbidden)
	s.ok(operator.TakeDown(ctx, trade.Notice{Version: 1, Listing: l.ID(), Reason: "stolen", At: 1}))
	res, err := http.Get("http://" + s.addr + "/v1/market/log/checkpoint")
	s.ok(err)
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Fatalf("the log answers %d", res.StatusCode)
	}
}

// A request signed by another key, or naming another key than its signer's, is refused before
// anything is looked up.
func TestMarketForged(t *testing.T) {
	s := withMarket(t)
	r, err := remote.New("http://"+s.addr, remote.Option{})
	s.ok(err)
	defer r.Close()
	forged := r.Market(tradetest.Market.Key, httpsig.KeySigner(tradetest.PartyKey(9)))
	_, err = forged.Complaints(t.Context())
	var e *remote.Error
	if !errors.As(err, &e) || e.Kind != "forged" {
		t.Fatalf("another's signature: %v", err)
	}
	res, err := http.Get("http://" + s.addr + "/v1/market/reports")
	s.ok(err)
	res.Body.Close()
	if res.StatusCode != 401 {
		t.Fatalf("unsigned: %d", res.StatusCode)
	}
}

// party makes a request signed by the party with a number.
func (s *service) party(n byte, method, path string) *raw {
	return &raw{method: method, path: "/v1/market" + path, host: s.addr, key: tradetest.PartyKey(n), field: map[string]string{},
		p: httpsig.Params{KeyID: "market/" + tradetest.Party(n).Key.String(), Created: time.Now(), Nonce: httpsig.NewNonce(), Alg: httpsig.Algorithm,
			Components: []string{"@method", "@authority", "@path", "@query"}}}
}

// A request to the market is signed as a whole, is valid for this market only, and is accepted
// once.
func TestMarketSignatureIsNeeded(t *testing.T) {
	s := withMarket(t)
	for name, c := range map[string]struct {
		change func(*raw)
		kind   page.Kind
	}{
		"old":            {func(r *raw) { r.p.Created = time.Now().Add(-6 * time.Minute) }, page.Stale},
		"another's host": {func(r *raw) { r.host = "elsewhere.example" }, page.Forged},
		"query unsigned": {func(r *raw) {
			r.exact, r.p.Components = true, []string{"@method", "@authority", "@path", "content-digest"}
		}, page.Malformed},
		"body unsigned":  {func(r *raw) { r.exact = true }, page.Malformed},
		"another's body": {func(r *raw) { r.field["Content-Digest"] = httpsig.Digest([]byte("else")) }, page.BadBody},
		"key, capitals":  {func(r *raw) { r.p.KeyID = "market/" + strings.ToUpper(tradetest.Party(3).Key.String()) }, page.Malformed},
		"a root's key":   {func(r *raw) { r.p.KeyID = "root/" + tradetest.Party(3).Key.String() }, page.Malformed},
		"no such code":   {func(r *raw) {}, page.Trade}, // signed as it should be
	} {
		t.Run(name, func(t *testing.T) {
			r := s.party(3, "POST", "/deposits")
			r.body = trade.Encode(trade.Payment{Voucher: "00000-00000-00000-00000"})
			c.change(r)
			if res, p, kind := r.do(t, s.addr); kind != c.kind {
				t.Fatal(res.Status, kind, p.Detail)
			}
		})
	}
	r := s.party(3, "GET", "/balance")
	for _, want := range []page.Kind{"", page.Replayed} {
		if res, p, kind := r.do(t, s.addr); kind != want {
			t.Fatal(res.Status, kind, p.Detail)
		}
	}
	for path, want := range map[string]int{"/log/checkpoint": 413, "/listings": 413} { // these take no body
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.addr+"/v1/market"+path, strings.NewReader("x"))
		s.ok(err)
		if res, _, _ := answer(t, req); res.StatusCode != want {
			t.Errorf("%s with a body: %s", path, res.Status)
		}
	}
}

// An address may only send so many requests and publish so much, whatever keys it makes.
func TestMarketRateLimit(t *testing.T) {
	now := time.Now() // no time passes, in which the allowance would refill
	s := withMarket(t, func(c *api.Config) { proxied(c); c.StrangersPerMinute, c.Now = 10, func() time.Time { return now } })
	count := func(times int, request func(n byte) *http.Request) (refused int) {
		for n := range times {
			if res, _, _ := answer(t, request(byte(n))); res.StatusCode == 429 {
				refused++
			}
		}
		return refused
	}
	if n := count(50, func(n byte) *http.Request {
		return came("203.0.113.1", s.party(n, "GET", "/balance")).request(t, s.addr)
	}); n != 10 {
		t.Errorf("%d of 50 requests with as many keys are refused", n)
	}
	if n := count(30, func(n byte) *http.Request {
		r := came("203.0.113.2", s.party(n, "POST", "/listings"))
		r.body = []byte("nonsense")
		return r.request(t, s.addr)
	}); n != 10 {
		t.Errorf("%d of 30 bundles are refused", n)
	}
	if n := count(50, func(byte) *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.addr+"/v1/market/log/checkpoint", nil)
		s.ok(err)
		req.Header.Set("X-Forwarded-For", "203.0.113.3")
		return req
	}); n != 10 {
		t.Errorf("%d of 50 requests of the log are refused", n)
	}
}

// Only the market's own key sees and resolves what waits for its operator.
func TestOnlyTheOperatorResolves(t *testing.T) {
	s := withMarket(t)
	for path, body := range map[string]any{"/x402": trade.Closed{}, "/takedowns": trade.Notice{Version: 1, Reason: "mine", At: 1}, "/vouchers": trade.Issue{Batch: "b"}, "/revocations": trade.Revocation{Batch: "b"}} {
		r := s.party(2, "POST", path)
		r.body = trade.Encode(body)
		if res, _, kind := r.do(t, s.addr); kind != page.Forbidden {
			t.Errorf("POST %s: %s %s", path, res.Status, kind)
		}
	}
	for _, path := range []string{"/x402", "/reports", "/vouchers"} {
		if res, _, kind := s.party(2, "GET", path).do(t, s.addr); kind != page.Forbidden {
			t.Errorf("GET %s: %s %s", path, res.Status, kind)
		}
	}
}
