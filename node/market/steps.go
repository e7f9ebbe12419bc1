package market

import (
	"context"

	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// Cancel ends an order that is not paid.
func (b *Buyer) Cancel(ctx context.Context, o *Bought) error {
	return b.movingLocked(ctx, o, func() error { return b.step(ctx, o, trade.Step{Act: trade.Cancel}) })
}

// Accept checks each item once more, and releases the payment to the seller.
func (b *Buyer) Accept(ctx context.Context, o *Bought) error {
	return b.movingLocked(ctx, o, func() error { return b.accept(ctx, o) })
}

func (b *Buyer) accept(ctx context.Context, o *Bought) error {
	if _, err := b.Open(o); err != nil {
		return err
	}
	return b.step(ctx, o, trade.Step{Act: trade.Accept})
}

// step takes a step of the buyer, inside [Buyer.moving].
func (b *Buyer) step(ctx context.Context, o *Bought, step trade.Step) error {
	return b.WithMarket(ctx, o.Market, func(m *remote.Market, by trade.Party, _ trade.Terms) error {
		step.Order, step.Prev, step.At = o.State.ID, o.State.Last, b.now().Unix()
		signed, _, err := trade.SignStep(step, by)
		if err != nil {
			return err
		}
		c, s, err := m.Step(ctx, o.State.ID, signed)
		if err != nil {
			return err
		}
		return b.moved(ctx, m, o, c, s)
	})
}
