package market

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

func movedOrderOf(o *Bought) serve.MovedOrder {
	return serve.MovedOrder{Order: o.State.ID, Title: o.State.Offer.Title, Open: !o.State.Phase.Ended(), Reviewed: o.Reviewed}
}

func (s *Shopper) MoveOrders(ctx context.Context, r serve.OrderMove) (out []serve.MovedOrder, err error) {
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		if r.DryRun {
			list, err := p.c.Buyer.Movable(r.To)
			for _, o := range list {
				out = append(out, movedOrderOf(o))
			}
			return err
		}
		list, err := p.c.Buyer.Move(ctx, r.To)
		for _, c := range list {
			v := movedOrderOf(c.Order)
			if c.Err != nil {
				v.Why = c.Err.Error()
			}
			if e, is := errors.AsType[*remote.Error](c.Err); is && e.Detail != "" {
				v.Why = e.Detail // the market's own text
			}
			out = append(out, v)
		}
		return refusal(err)
	})
	return out, err
}

func (s *Shopper) OrderFile(ctx context.Context, order trade.Hash) (b []byte, err error) {
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		o, err := p.c.Buyer.Find(order.String())
		if err != nil {
			return err
		}
		if len(o.Items) == 0 {
			if err := p.c.Buyer.Refresh(ctx, o); err != nil {
				return refusal(err)
			}
		}
		if b, err = o.car(); errors.Is(err, ErrNotDelivered) {
			err = fmt.Errorf("%w: %w", serve.ErrConflict, err)
		}
		return err
	})
	return b, err
}

func (s Seller) ListingFile(ctx context.Context, id string) (b []byte, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error {
		all, err := sh.list(ctx)
		if err != nil {
			return err
		}
		l, err := find(all, id)
		if err != nil {
			return err
		}
		if b, _, err = offeredIn(sh.c.Dir, l.Version); errors.Is(err, ErrNotKept) {
			err = fmt.Errorf("%w: %w", serve.ErrConflict, err)
		}
		return err
	})
	return b, err
}
