package market

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// Dispute shows the arbiter what is wrong: an item, by its place from 0; or, if place is below 0,
// the delivered key. An answer is shown completely. If the listed key does not open the item, the
// arbiter is shown that.
func (b *Buyer) Dispute(ctx context.Context, o *Bought, place int, reason string) error {
	return b.movingLocked(ctx, o, func() error { return b.dispute(ctx, o, place, reason) })
}

// dispute is Dispute, inside [Buyer.moving].
func (b *Buyer) dispute(ctx context.Context, o *Bought, place int, reason string) error {
	if o.State.Order.Question != nil {
		return b.disputeAnswer(ctx, o, reason)
	}
	k, id, err := b.key(o)
	defer id.Zero()
	wrongKey := errors.Is(err, bundle.ErrKey)
	if err != nil && !wrongKey {
		return err
	}
	defer k.Zero()
	if place < 0 && !wrongKey {
		return fmt.Errorf("%w: the delivered key is the listed one: name an item", memory.ErrInvalid)
	}
	if !wrongKey && place >= len(o.Items) {
		return fmt.Errorf("%w: item %d: the bundle has %d", memory.ErrInvalid, place+1, len(o.Items))
	}
	return b.show(ctx, o, reason, func(arbiter string) ([]byte, error) {
		if wrongKey {
			return bundle.ShowKey(o.State, id, arbiter)
		}
		_, broken := k.OpenItem(&o.State.Offer.Listing, place, o.Items[place])
		if errors.Is(broken, bundle.ErrKey) {
			return bundle.ShowSealed(o.State, id, o.Items, place, arbiter)
		}
		return bundle.ShowItem(o.State, k, o.Items, place, arbiter)
	})
}

// disputeAnswer shows the arbiter the question and the answer.
func (b *Buyer) disputeAnswer(ctx context.Context, o *Bought, reason string) error {
	id, err := b.identity(o)
	if err != nil {
		return err
	}
	defer id.Zero()
	return b.show(ctx, o, reason, func(arbiter string) ([]byte, error) { return bundle.ShowKey(o.State, id, arbiter) })
}

// show disputes an order with the evidence that is sealed to the arbiter.
func (b *Buyer) show(ctx context.Context, o *Bought, reason string, evidence func(arbiter string) ([]byte, error)) error {
	return b.WithMarket(ctx, o.Market, func(_ *remote.Market, _ trade.Party, terms trade.Terms) error {
		arbiter, err := arbiterOf(terms)
		if err != nil {
			return err
		}
		if trade.KeyOf(arbiter.Key) != o.State.Offer.Arbiter {
			return fmt.Errorf("the market's arbiter: %w: it is not the one that the listing names", remote.ErrAnswer)
		}
		sealed, err := evidence(arbiter.Recipient)
		if err != nil {
			return err
		}
		return b.step(ctx, o, trade.Step{Act: trade.Dispute, Evidence: sealed, Reason: reason})
	})
}

// judge returns what the evidence of a disputed order proves, for the arbiter.
func (b *Buyer) judge(s *trade.State) (f bundle.Finding, err error) {
	d, err := b.keys()
	if err != nil {
		return f, err
	}
	defer d.Zero()
	return bundle.Judge(s, d.Open)
}

// Disputable reports whether an error of [Buyer.Open] is the seller's fault.
func Disputable(err error) bool {
	return errors.Is(err, bundle.ErrKey) || errors.Is(err, bundle.ErrItem) || errors.Is(err, bundle.ErrReply)
}

// BadPlace returns the item that is wrong, counted from 1; 0 if it is not a single item.
func BadPlace(err error) int {
	var bad *bundle.BadItem
	if errors.As(err, &bad) {
		return bad.Place + 1
	}
	return 0
}

// arbiterOf returns the arbiter that a market names.
func arbiterOf(terms trade.Terms) (envelope.Request, error) {
	r, err := envelope.ParseRequest(terms.Arbiter)
	if err != nil {
		return r, fmt.Errorf("the market's arbiter: %w: %w", remote.ErrAnswer, err)
	}
	return r, nil
}
