package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/sync/trade"
)

// wallet answers an agent that pays an order by x402. The agent needs no key, only the order's
// address, which contains a pass. The answers are JSON, which such agents expect.
func (s *Server) wallet(ctx context.Context, r *request) error {
	r.Header("Cache-Control", "no-store") // for errors, too
	id, err := r.hash()
	if err != nil {
		return err
	}
	h := http.Header{}
	if v := r.Request.Header.Peek(x402.FieldSignature); len(v) > 0 {
		h.Set(x402.FieldSignature, string(v))
	}
	a, err := s.Market.Wallet(ctx, id, r.Query("pass"), r.holder.address, h)
	if err != nil {
		return err
	}
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	for name := range a.Header {
		r.Header(name, a.Header.Get(name))
	}
	r.Data(a.Status, "application/json", body)
	return nil
}

// openPayments lists the payments that wait for the operator.
func (s *Server) openPayments(ctx context.Context, r *party) error {
	all, err := s.Market.Open(ctx)
	return r.encoded(all, err)
}

// closePayment records the operator's decision about one of them.
func (s *Server) closePayment(ctx context.Context, r *party) error {
	var c trade.Closed
	if err := trade.Decode(r.body, &c, 256); err != nil {
		return err
	}
	return r.empty(s.Market.CloseOpen(ctx, c))
}
