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

// Dispute shows the arbiter what is wrong: an item by its place from 0; where place
// is below 0, the delivered key. Where the listed key does not open the item, the
// arbiter is shown that.
func (b *Buyer) Dispute(ctx context.Context, o *Bought, place int, reason string) error {
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
	return b.At(ctx, o.Market, func(m *remote.Market, _ trade.Party, terms trade.Terms) error {
		arbiter, err := envelope.ParseRequest(terms.Arbiter)
		if err != nil {
			return fmt.Errorf("the market's arbiter: %w: %w", remote.ErrAnswer, err)
		}
		if trade.KeyOf(arbiter.Key) != o.State.Offer.Arbiter {
			return fmt.Errorf("the market's arbiter: %w: it is not the one that the listing names", remote.ErrAnswer)
		}
		var evidence []byte
		switch {
		case wrongKey:
			evidence, err = bundle.ShowKey(o.State, id, arbiter.Recipient)
		default:
			item := bundle.ItemKey(k, place)
			_, broken := bundle.OpenItem(item, o.Items[place])
			item.Zero()
			if errors.Is(broken, bundle.ErrKey) {
				evidence, err = bundle.ShowSealed(o.State, id, o.Items, place, arbiter.Recipient)
			} else {
				evidence, err = bundle.ShowItem(o.State, k, o.Items, place, arbiter.Recipient)
			}
		}
		if err != nil {
			return err
		}
		return b.Step(ctx, o, trade.Step{Act: trade.Dispute, Evidence: evidence, Reason: reason})
	})
}

// Judge gives what the evidence of a disputed order proves, for the arbiter.
func (b *Buyer) Judge(s *trade.State) (f bundle.Finding, err error) {
	d, err := b.keys()
	if err != nil {
		return f, err
	}
	defer d.Zero()
	return bundle.Judge(s, d.Open)
}

// Disputable reports whether what [Buyer.Open] found wrong is the seller's doing.
func Disputable(err error) bool {
	return errors.Is(err, bundle.ErrKey) || errors.Is(err, bundle.ErrItem)
}

// BadPlace is the item that is wrong, counted from 1; 0 where it is none alone.
func BadPlace(err error) int {
	var bad *bundle.BadItem
	if errors.As(err, &bad) {
		return bad.Place + 1
	}
	return 0
}
