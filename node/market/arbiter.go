package market

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// maxDisputes is how many disputes of one market an arbiter is shown.
const maxDisputes = 500

// Disputes returns the disputes at a market that the buyer's key has to decide, with what the
// evidence proves. Only the arbiter gets any.
func (b *Buyer) Disputes(ctx context.Context, m *remote.Market) (out []serve.Dispute, err error) {
	for len(out) < maxDisputes {
		_, list, err := m.Orders(ctx, "arbiter", trade.Disputed, len(out))
		if err != nil || len(list) == 0 {
			return out, err
		}
		for _, s := range list {
			v := serve.Dispute{Order: s.ID, Title: s.Offer.Title, Listing: s.Offer.ID(), Price: trade.Price(s.Order.Price, s.Order.Currency), Until: time.Unix(s.Deadline, 0).UTC(), Says: s.Reason}
			f, err := b.judge(s)
			if err != nil {
				v.Nothing = err.Error()
			} else if v.Item, v.Broken = f.Item, f.Broken; f.Item != nil {
				v.Place = f.Place + 1
			}
			if f.Reply != nil {
				v.Question = f.Reply.Question
				for _, m := range f.Reply.Items {
					v.Answer = append(v.Answer, m.Text)
				}
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// Decide divides the price of a disputed order, as its arbiter: refund is all, none, or the
// amount that goes back to the buyer. [remote.ErrAnswer]: the market returned another order, or
// not the decision. [serve.ErrConflict]: the order is not in dispute, or somebody else decides
// it.
func (b *Buyer) Decide(ctx context.Context, m *remote.Market, by trade.Party, order trade.Hash, refund, reason string) (*trade.State, error) {
	was, s, err := m.Get(ctx, order)
	switch {
	case err != nil:
		return nil, err
	case s.ID != order:
		return nil, fmt.Errorf("order %s: %w: the market shows order %s", order, remote.ErrAnswer, s.ID)
	case s.Offer.Arbiter != by.Key:
		return nil, fmt.Errorf("order %s: %w: its arbiter is another", order, serve.ErrConflict)
	case s.Phase != trade.Disputed:
		return nil, fmt.Errorf("order %s: %w: it is %s, and not in dispute", order, serve.ErrConflict, s.Phase)
	}
	step := trade.Step{Order: order, Prev: s.Last, Act: trade.Decide, Reason: reason, At: b.now().Unix()}
	switch refund {
	case "all":
		step.Refund = s.Order.Price
	case "none":
	default:
		minor, code, err := trade.ParsePrice(refund)
		if err != nil {
			return nil, fmt.Errorf("%w: refund: %w", memory.ErrInvalid, err)
		}
		if code != s.Order.Currency || minor > s.Order.Price {
			return nil, fmt.Errorf("%w: refund: %q: want all, none, or up to %s", memory.ErrInvalid, refund, trade.Price(s.Order.Price, s.Order.Currency))
		}
		step.Refund = minor
	}
	signed, _, err := trade.SignStep(step, by)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	now, s, err := m.Step(ctx, order, signed)
	if err != nil {
		return nil, err
	}
	if n := len(was.Links); s.ID != order || !now.Extends(was) || len(now.Links) == n || string(now.Links[n].Step) != string(signed) {
		return nil, fmt.Errorf("order %s: %w: the market's answer lacks the decision", order, remote.ErrAnswer)
	}
	return s, nil
}

func (s *Shopper) Disputes(ctx context.Context, market string) (v serve.DisputesAnswer, err error) {
	err = s.at(ctx, market, func(ctx context.Context, b *Buyer, _ string, m *remote.Market, by trade.Party, terms *trade.Terms) error {
		arbiter, err := arbiterOf(*terms)
		if err != nil || trade.KeyOf(arbiter.Key) != by.Key {
			return err
		}
		v.Arbiter = true
		v.Disputes, err = b.Disputes(ctx, m)
		return err
	})
	return v, err
}

func (s *Shopper) Decide(ctx context.Context, r serve.DisputeDecision) (v serve.DecidedOrder, err error) {
	err = s.at(ctx, r.Market, func(ctx context.Context, b *Buyer, _ string, m *remote.Market, by trade.Party, terms *trade.Terms) error {
		arbiter, err := arbiterOf(*terms)
		if err != nil {
			return err
		}
		if trade.KeyOf(arbiter.Key) != by.Key {
			return fmt.Errorf("%w: the market's arbiter is another", serve.ErrConflict)
		}
		o, err := b.Decide(ctx, m, by, r.Order, r.Refund, r.Reason)
		if err != nil {
			return err
		}
		v = serve.DecidedOrder{Order: o.ID, Phase: o.Phase, Price: trade.Price(o.Order.Price, o.Order.Currency), Reason: o.Reason}
		if o.Back > 0 {
			v.Back = trade.Price(o.Back, o.Order.Currency)
		}
		return nil
	})
	return v, err
}
