package api

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/trade"
)

// operator wraps a handler that only the market's own key may call.
func (s *Server) operator(limit int, h func(context.Context, *party) error) app.HandlerFunc {
	return s.party(limit, func(ctx context.Context, r *party) error {
		if r.by != s.Market.Terms().Market {
			return relay.ErrForbidden
		}
		return h(ctx, r)
	})
}

func (s *Server) complaints(ctx context.Context, r *party) error {
	all, err := s.Market.Complaints(ctx)
	return r.encoded(all, err)
}

func (s *Server) takeDown(ctx context.Context, r *party) error {
	var n trade.Notice
	if err := trade.Decode(r.body, &n, trade.MaxNote); err != nil {
		return err
	}
	return r.empty(s.Market.TakeDown(ctx, n.Listing, n.Reason))
}

func (s *Server) issue(ctx context.Context, r *party) error {
	var i trade.Issue
	if err := trade.Decode(r.body, &i, 512); err != nil {
		return err
	}
	codes, err := s.Market.Issue(ctx, i.Batch, int(i.Count), ledger.Money{Minor: int64(i.Minor), Currency: ledger.Currency(i.Currency)}, time.Unix(i.Until, 0))
	if err != nil {
		return fmt.Errorf("%w: %w", page.ErrForm, err)
	}
	return r.encoded(trade.Codes{Codes: codes}, nil)
}

func (s *Server) revoke(ctx context.Context, r *party) error {
	var v trade.Revocation
	if err := trade.Decode(r.body, &v, 256); err != nil {
		return err
	}
	n, err := s.Market.Revoke(ctx, v.Batch)
	return r.encoded(n, err)
}
