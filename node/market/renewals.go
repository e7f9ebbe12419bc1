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

// maxPeriods is how many periods a page may ask for: more than a century of days.
const maxPeriods = 100000

// subscriptionOf returns a subscription in the form in which it is shown. orders are all
// orders of its buyer.
func subscriptionOf(s *Subscribed, orders []*trade.State) serve.Subscription {
	v := serve.Subscription{Listing: s.Listing, Title: s.Title, Market: s.Address, Most: trade.Price(s.Most, s.Currency), Periods: int(s.Periods), Paid: int(s.PaidPeriods(orders)),
		EveryDays: float64(s.Period) / aDay, Last: s.Last, Why: s.Why}
	if s.Until > 0 {
		v.Until = time.Unix(s.Until, 0).UTC()
	}
	if s.Ended > 0 {
		v.Ended = time.Unix(s.Ended, 0).UTC()
	}
	return v
}

// subscriptionsToAPI returns subscriptions in the form in which they are shown. failed are errors of
// the list as a whole, which do not hold back any of it.
func (b *Buyer) subscriptionsToAPI(list []*Subscribed, failed ...error) (v serve.SubscriptionsAnswer) {
	orders, err := b.Orders()
	states := make([]*trade.State, len(orders))
	for i, o := range orders {
		states[i] = o.State
	}
	v.Subscriptions = make([]serve.Subscription, len(list))
	for i, s := range list {
		v.Subscriptions[i] = subscriptionOf(s, states)
	}
	for _, err := range append(failed, err) {
		if err != nil {
			v.Failed = append(v.Failed, err.Error())
		}
	}
	return v
}

func (s *Shopper) Subscriptions(ctx context.Context) (v serve.SubscriptionsAnswer, err error) {
	err = s.of.During(ctx, func(_ context.Context, p *Purse) error {
		list, err := p.c.Buyer.Subscriptions()
		v = p.c.Buyer.subscriptionsToAPI(list, err)
		return nil
	})
	return v, err
}

func (s *Shopper) Subscribe(ctx context.Context, r serve.SubscribeRequest) (v serve.Subscription, err error) {
	minor, code, err := trade.ParsePrice(r.Most)
	if err != nil {
		return v, fmt.Errorf("%w: most: %w", memory.ErrInvalid, err)
	}
	if r.Periods < 1 || r.Periods > maxPeriods {
		return v, fmt.Errorf("%w: periods: %d: want 1 to %d", memory.ErrInvalid, r.Periods, maxPeriods)
	}
	err = s.at(ctx, r.Market, func(ctx context.Context, b *Buyer, address string, m *remote.Market, _ trade.Party, terms *trade.Terms) error {
		if !r.Until.IsZero() && !r.Until.After(b.now()) {
			return fmt.Errorf("%w: until: it is in the past", memory.ErrInvalid)
		}
		l, err := offered(ctx, m, r.Listing, terms)
		if err != nil {
			return err
		}
		decided, err := b.Subscribe(ctx, address, l, minor, code, uint32(r.Periods), r.Until)
		if err != nil {
			return err
		}
		list, _ := b.Renew(ctx) // the subscription says what was not bought
		v = subscriptionOf(decided, nil)
		for _, now := range b.subscriptionsToAPI(list).Subscriptions {
			if now.Listing == v.Listing {
				v = now
			}
		}
		return nil
	})
	return v, err
}

func (s *Shopper) RenewSubscriptions(ctx context.Context) (v serve.SubscriptionsAnswer, err error) {
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		list, err := p.c.Buyer.Renew(ctx)
		v = p.c.Buyer.subscriptionsToAPI(list, err)
		return ctx.Err()
	})
	return v, err
}

func (s *Shopper) EndSubscription(ctx context.Context, listing trade.Hash) (v serve.Subscription, err error) {
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		ended, err := p.c.Buyer.Unsubscribe(ctx, listing.String())
		if err == nil {
			v = p.c.Buyer.subscriptionsToAPI([]*Subscribed{ended}).Subscriptions[0]
		}
		return err
	})
	return v, err
}
