package market

import (
	"context"

	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// MovedOrder is an order that was moved to another market, or why it was not.
type MovedOrder struct {
	Order *Bought
	Err   error
}

// Movable returns the orders that [Buyer.Move] would move to another market. It compares
// addresses, and asks no market.
func (b *Buyer) Movable(to string) (out []*Bought, err error) {
	if to, err = addressOf(to); err != nil {
		return nil, err
	}
	list, err := b.Orders()
	for _, o := range list {
		if at, err := addressOf(o.Market); (err != nil || at != to) && o.State.Phase.Paid() {
			out = append(out, o)
		}
	}
	return out, err
}

// Move moves what was bought, with the buyer's reviews, to another market. It does not
// ask the market where it was bought. Orders that were never paid stay.
func (b *Buyer) Move(ctx context.Context, to string) (out []MovedOrder, err error) {
	list, err := b.Orders()
	if err != nil {
		return nil, err
	}
	err = b.WithMarket(ctx, to, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
		for _, o := range list {
			if o.State.Offer.Market == terms.Market || !o.State.Phase.Paid() {
				continue
			}
			review, err := b.reviewed(o.State.ID)
			if err == nil {
				err = bringOrder(ctx, m, by, terms.Market, &o.Chain, review, b.now())
			}
			out = append(out, MovedOrder{o, err})
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	return out, err
}
