package api

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/trade"
)

// Limits on an address's requests to a market.
const (
	tradesEach       = 4 // requests with a key, for each one without
	publishPerMinute = 2 // bundles
	publishAtOnce    = 20
)

// maxPublication is the largest body of a listing with its items.
const maxPublication = trade.MaxBundle + trade.MaxListing + 8*trade.MaxItems

// maxCheckpoint is the largest body that is sent to a witness: a checkpoint and a proof.
const maxCheckpoint = 24 << 10

// marketRoutes serves the market and the witness, if there are any. docs/market.md lists the
// routes.
func (s *Server) marketRoutes(h *server.Hertz) {
	if s.Witness != nil {
		s.mount(h, "/v1/witness", s.Witness, maxCheckpoint, "GET", "POST")
	}
	if s.Market == nil {
		return
	}
	m := s.Market
	h.GET("/v1/market", s.unsigned(0, func(_ context.Context, r *request) error { return r.cbor(trade.Encode(m.Terms())) }))
	h.GET("/v1/market/listings", s.unsigned(0, s.searchListings))
	h.GET("/v1/market/listings/:id", s.unsigned(0, func(ctx context.Context, r *request) error {
		id, err := r.hash()
		if err != nil {
			return err
		}
		v, err := m.Show(ctx, id)
		return r.encoded(v, err)
	}))
	h.POST("/v1/market/listings", s.party(maxPublication, s.publish))
	h.POST("/v1/market/withdrawals", s.party(trade.MaxNote, func(ctx context.Context, r *party) error { return r.empty(m.Withdraw(ctx, r.body)) }))
	h.POST("/v1/market/reports", s.party(trade.MaxNote, func(ctx context.Context, r *party) error { return r.empty(m.Report(ctx, r.body)) }))
	h.GET("/v1/market/reports", s.operator(0, s.complaints))
	h.POST("/v1/market/takedowns", s.operator(trade.MaxNote, s.takeDown))
	h.POST("/v1/market/reviews", s.party(trade.MaxNote, func(ctx context.Context, r *party) error { return r.empty(m.Review(ctx, r.body)) }))
	h.POST("/v1/market/moves", s.party(trade.MaxMoving, func(ctx context.Context, r *party) error {
		var v trade.Moving
		if err := trade.Decode(r.body, &v, trade.MaxMoving); err != nil {
			return err
		}
		return r.empty(m.TakeOver(ctx, v, r.by))
	}))
	h.GET("/v1/market/moves", s.answer(0, func(ctx context.Context, r *party) (any, error) {
		skip, err := r.number("skip")
		if err != nil {
			return nil, err
		}
		return m.MovedOrders(ctx, r.by, int(skip))
	}))
	s.orderRoutes(h, m)
	s.moneyRoutes(h, m)
	if s.MarketLog != nil {
		s.mount(h, "/v1/market/log", s.MarketLog, 0, "GET")
	}
}

// orderRoutes serves the orders of a market.
func (s *Server) orderRoutes(h *server.Hertz, m *market.Market) {
	h.POST("/v1/market/orders", s.answer(trade.MaxOrder, func(ctx context.Context, r *party) (any, error) { return m.Order(ctx, r.body, r.by) }))
	h.GET("/v1/market/orders", s.answer(0, func(ctx context.Context, r *party) (any, error) {
		skip, err := r.number("skip")
		if err != nil {
			return nil, err
		}
		return m.Orders(ctx, r.by, market.Role(r.Query("role")), trade.Phase(r.Query("phase")), int(skip))
	}))
	h.GET("/v1/market/orders/:id", s.order(0, func(ctx context.Context, r *party, id trade.Hash) (any, error) { return m.Get(ctx, id, r.by) }))
	h.POST("/v1/market/orders/:id/steps", s.order(trade.MaxStep, func(ctx context.Context, r *party, id trade.Hash) (any, error) { return m.Step(ctx, id, r.body, r.by) }))
	h.POST("/v1/market/orders/:id/payments", s.order(256, func(ctx context.Context, r *party, id trade.Hash) (any, error) {
		var p trade.Payment
		if err := trade.Decode(r.body, &p, 256); err != nil {
			return nil, err
		}
		return m.Pay(ctx, id, p, r.by)
	}))
	h.POST("/v1/market/orders/:id/checkout", s.order(0, func(ctx context.Context, r *party, id trade.Hash) (any, error) {
		return m.Checkout(ctx, id, r.by, r.Query("by"))
	}))
	for _, method := range []string{"GET", "POST"} {
		h.Handle(method, "/v1/market/orders/:id/x402", s.unsigned(0, s.wallet))
	}
	if pages := m.Pages(); pages != nil {
		s.mount(h, "/v1/market/stripe", pages, market.MaxEvent, "GET", "POST")
	}
	h.GET("/v1/market/orders/:id/bundle", s.party(0, func(ctx context.Context, r *party) error {
		id, err := r.hash()
		if err != nil {
			return err
		}
		b, err := m.Bundle(ctx, id, r.by)
		if err != nil {
			return err
		}
		return r.cbor(b)
	}))
}

// moneyRoutes serves the parties' balances at a market, and the operator's actions on them.
func (s *Server) moneyRoutes(h *server.Hertz, m *market.Market) {
	h.GET("/v1/market/balance", s.answer(0, func(ctx context.Context, r *party) (any, error) { return m.Balance(ctx, r.by) }))
	h.POST("/v1/market/deposits", s.answer(256, func(ctx context.Context, r *party) (any, error) {
		var p trade.Payment
		if err := trade.Decode(r.body, &p, 256); err != nil {
			return nil, err
		}
		return m.Deposit(ctx, p, r.by)
	}))
	h.POST("/v1/market/payouts", s.answer(256, func(ctx context.Context, r *party) (any, error) {
		var p trade.Payout
		if err := trade.Decode(r.body, &p, 256); err != nil {
			return nil, err
		}
		code, err := m.Payout(ctx, &p, r.by)
		return trade.Codes{Codes: []string{code}}, err
	}))
	h.GET("/v1/market/vouchers", s.operator(0, func(ctx context.Context, r *party) error {
		all, err := m.Batches(ctx)
		return r.encoded(all, err)
	}))
	h.POST("/v1/market/vouchers", s.operator(512, s.issue))
	h.POST("/v1/market/revocations", s.operator(256, s.revoke))
	h.GET("/v1/market/x402", s.operator(0, s.openPayments))
	h.POST("/v1/market/x402", s.operator(256, s.closePayment))
}

// party is a request signed with a key. Keys cost nothing, so the requests are counted by address,
// like those of strangers.
type party struct {
	*request
	by trade.Key
}

// party wraps a handler for requests signed by the key in "market/KEY".
func (s *Server) party(limit int, h func(context.Context, *party) error) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		p := &party{request: &request{RequestContext: c}}
		p.holder.address = s.address(c)
		defer s.releaseBody(p.request)
		err := s.step(ctx, "check", func(context.Context) error { return s.checkParty(p, limit) })
		if err == nil {
			err = s.step(ctx, "serve", func(ctx context.Context) error { return h(ctx, p) })
		}
		if err == nil {
			err = s.countAnswer(ctx, p.request)
		}
		if err != nil {
			s.fail(c, err)
		}
	}
}

func (s *Server) checkParty(p *party, limit int) error {
	size, err := bodySize(p.RequestContext, limit)
	if err != nil {
		return err
	}
	if wait, ok := s.traders.Take(p.holder.address); !ok {
		return &relay.QuotaError{What: "requests a minute to the market", Limit: s.traders.PerMinute, Wait: wait}
	}
	m, err := s.signedPart(p.RequestContext)
	if err != nil {
		return err
	}
	sig, err := httpsig.Parse(m.Field("signature-input"), m.Field("signature"))
	if err != nil {
		return err
	}
	need := always
	if size > 0 {
		need = append(need[:len(need):len(need)], "content-digest")
	}
	if err := sig.Covers(need...); err != nil {
		return err
	}
	if err := s.window.Fresh(sig.Params); err != nil {
		return err
	}
	name, ok := strings.CutPrefix(sig.KeyID, "market/")
	if !ok || p.by.UnmarshalText([]byte(name)) != nil || p.by.String() != name {
		return fmt.Errorf("keyid: %w: want market/ and 64 hexadecimal characters", page.ErrForm)
	}
	if err := sig.Verify(m, p.by[:]); err != nil {
		return err
	}
	if err := s.window.Take(sig.Params, p.holder.address); err != nil {
		return err
	}
	if err := s.readBody(p.request, size); err != nil {
		return err
	}
	if size == 0 {
		return nil
	}
	return httpsig.CheckDigest(m.Field("content-digest"), sha256.Sum256(p.body))
}

// order wraps a handler for one order.
func (s *Server) order(limit int, h func(context.Context, *party, trade.Hash) (any, error)) app.HandlerFunc {
	return s.answer(limit, func(ctx context.Context, r *party) (any, error) {
		id, err := r.hash()
		if err != nil {
			return nil, err
		}
		return h(ctx, r, id)
	})
}

// answer wraps a handler whose value is sent to a party.
func (s *Server) answer(limit int, h func(context.Context, *party) (any, error)) app.HandlerFunc {
	return s.party(limit, func(ctx context.Context, r *party) error {
		v, err := h(ctx, r)
		return r.encoded(v, err)
	})
}

func (r *request) hash() (h trade.Hash, err error) {
	name := r.Param("id")
	if err := h.UnmarshalText([]byte(name)); err != nil || h.String() != name {
		return h, fmt.Errorf("id: %w: want 64 hexadecimal characters in lower case", page.ErrForm)
	}
	return h, nil
}

func (r *request) encoded(v any, err error) error {
	if err != nil {
		return err
	}
	return r.cbor(trade.Encode(v))
}

func (r *request) number(name string) (uint64, error) {
	text := r.Query(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 40)
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %.20q is not a number", name, page.ErrForm, text)
	}
	return n, nil
}

func (s *Server) searchListings(ctx context.Context, r *request) error {
	q := market.Query{Words: r.Query("q"), Category: r.Query("category"), Language: r.Query("language"), Currency: r.Query("currency"), Newest: r.Query("sort") == "newest"}
	var err error
	if q.Most, err = r.number("most"); err != nil {
		return err
	}
	for _, n := range []struct {
		name string
		to   *int
	}{{"skip", &q.Skip}, {"limit", &q.Limit}} {
		v, err := r.number(n.name)
		if err != nil {
			return err
		}
		*n.to = int(v)
	}
	if name := r.Query("seller"); name != "" {
		if err := q.Seller.UnmarshalText([]byte(name)); err != nil {
			return fmt.Errorf("seller: %w", err)
		}
	}
	f, err := s.Market.Search(ctx, q)
	return r.encoded(f, err)
}

func (s *Server) publish(ctx context.Context, r *party) error {
	if wait, ok := s.published.Take(r.holder.address); !ok {
		return &relay.QuotaError{What: "listings of an address", Limit: publishAtOnce, Wait: wait}
	}
	var p trade.Publication
	if err := trade.Decode(r.body, &p, maxPublication); err != nil {
		return err
	}
	l, err := s.Market.Publish(ctx, &p, r.by)
	if err != nil {
		return err
	}
	return r.cbor(trade.Encode(l.ID()))
}
