package sale

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// transitions, and the party that makes each.
var transitions = []struct {
	name   string
	actors []string
	begin  func(*round) (act func() error)
}{
	{"ordered", []string{"buyer"}, (*round).ordered},
	{"funded", []string{"buyer"}, (*round).funded},
	{"delivered", []string{"seller"}, (*round).delivered},
	{"answered", []string{"seller"}, (*round).answered},
	{"accepted", []string{"buyer"}, (*round).accepted},
	{"disputed", []string{"buyer"}, (*round).disputed},
	{"decided", nil, (*round).decided},
	{"refunded", []string{"seller"}, (*round).refunded},
	{"expired", nil, (*round).expired},
	{"renewed", []string{"seller", "buyer"}, (*round).renewed},
	{"moved", []string{"seller", "buyer"}, (*round).moved},
}

// until calls f until the order is in one of the phases.
func (r *round) until(f func() error, phases ...trade.Phase) func() error {
	return func() error {
		err := f()
		s, serr := r.state()
		if serr != nil {
			return errors.Join(err, serr)
		}
		if !slices.Contains(phases, s.Phase) {
			return errors.Join(err, fmt.Errorf("it is %s, want %s", s.Phase, phases))
		}
		return nil
	}
}

func (r *round) buyer(do string) func() error {
	return func() error { return r.pair.buyer.do(nil, command{Do: do, Order: r.order}) }
}

func (r *round) seller(do string) func() error {
	return func() error { return r.pair.seller.do(nil, command{Do: do, Order: r.order}) }
}

// reach makes a new order of a listing, and brings it as far as the given commands do.
func (r *round) reach(listing string, parties ...func() error) {
	r.t.Helper()
	r.ok(r.pair.buyer.do(&r.order, command{Do: "order", Market: r.at.url, Listing: listing}))
	for _, do := range parties {
		r.ok(do())
	}
}

// toDelivered returns the commands that reach a delivered order.
func (r *round) toDelivered() []func() error {
	return []func() error{r.buyer("pay"), r.seller("sales"), r.buyer("open")}
}

func (r *round) ordered() func() error {
	return func() error {
		return r.pair.buyer.do(&r.order, command{Do: "order", Market: r.at.url, Listing: r.at.rule})
	}
}

func (r *round) funded() func() error {
	r.reach(r.at.rule)
	return r.until(r.buyer("pay"), trade.Funded, trade.Delivered)
}

func (r *round) delivered() func() error {
	if r.chance.IntN(2) == 0 {
		r.reach(r.at.rule, r.buyer("pay"))
		return r.until(r.seller("sales"), trade.Delivered)
	}
	r.reach(r.at.approve, r.buyer("pay"))
	r.ok(r.until(r.seller("sales"), trade.Funded)()) // not without the seller's word
	return r.until(r.seller("deliver"), trade.Delivered)
}

// answered makes the seller's node answer a question, or refund the price.
func (r *round) answered() func() error {
	question, end := "when do tomatoes want water?", trade.Delivered
	if r.chance.IntN(3) == 0 {
		question, end = "who won the chess match in Reykjavik?", trade.Refunded
	}
	r.ok(r.pair.buyer.do(&r.order, command{Do: "order", Market: r.at.url, Listing: r.at.answers, Text: question}))
	r.ok(r.buyer("pay")())
	return r.until(r.seller("sales"), end)
}

func (r *round) accepted() func() error {
	r.reach(r.at.rule, r.toDelivered()...)
	return r.until(r.buyer("accept"), trade.Accepted)
}

func (r *round) disputed() func() error {
	r.reach(r.at.rule, r.toDelivered()...)
	return r.until(r.buyer("dispute"), trade.Disputed)
}

// decided makes the arbiter refund a part, or all.
func (r *round) decided() func() error {
	r.reach(r.at.rule, append(r.toDelivered(), r.buyer("dispute"))...)
	back := []uint64{0, 200, 500}[r.chance.IntN(3)]
	return r.until(func() error {
		s, err := r.state()
		if err != nil {
			return err
		}
		c, err := remote.New(r.at.url, remote.Option{Now: now})
		if err != nil {
			return err
		}
		defer c.Close()
		signed, _, err := trade.SignStep(trade.Step{Order: s.ID, Prev: s.Last, Act: trade.Decide, Refund: back, At: now().Unix()}, tradetest.Arbiter)
		if err == nil {
			_, _, err = c.Market(tradetest.Arbiter.Key, httpsig.KeySigner(tradetest.PartyKey(4))).Step(r.t.Context(), s.ID, signed)
		}
		return err
	}, trade.Accepted, trade.Settled, trade.Refunded)
}

func (r *round) refunded() func() error {
	if r.chance.IntN(2) == 0 {
		r.reach(r.at.approve, r.buyer("pay"))
	} else {
		r.reach(r.at.rule, r.toDelivered()...)
	}
	return r.until(r.seller("refund"), trade.Refunded)
}

// expired moves the clock beyond the limit of any phase.
func (r *round) expired() func() error {
	switch r.chance.IntN(4) {
	case 0:
		r.reach(r.at.rule)
	case 1:
		r.reach(r.at.approve, r.buyer("pay"))
	case 2:
		r.reach(r.at.rule, r.toDelivered()...)
	case 3:
		r.reach(r.at.rule, append(r.toDelivered(), r.buyer("dispute"))...)
	}
	r.clock.on(15)
	return r.until(func() error { return r.swept(r.at) }, trade.Expired, trade.Refunded, trade.Accepted)
}

// swept waits until the operator has ended what is over.
func (w *world) swept(at *place) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		late := 0
		err := w.each(at, func(_ *pair, _ *trade.Chain, s *trade.State) error {
			if !s.Phase.Ended() && s.Deadline <= now().Unix() {
				late++
			}
			return nil
		})
		if err != nil || late == 0 {
			return err
		}
	}
	return errors.New("orders are past their time")
}

// renewed makes the seller's node issue the next period, and the buyer's pay for it.
func (r *round) renewed() func() error {
	r.ok(r.pair.seller.do(nil, command{Do: "tell", Text: fmt.Sprintf("What grew before round %d.", r.n)}))
	r.clock.on(periodDays + 1)
	for _, at := range r.places { // they grow at both markets
		r.ok(r.swept(at))
	}
	return func() error {
		for _, do := range []func() error{r.seller("sales"), func() error { return r.pair.buyer.do(nil, command{Do: "fetch"}) }} {
			for range 2 {
				if err := do(); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// wasRenewed checks that both growing listings have one more period, paid once.
func (r *round) wasRenewed() error {
	for _, at := range r.places {
		at.periods++
		var newest *trade.Offer
		if err := r.as(r.pair, at, func(ctx context.Context, m *remote.Market) (err error) {
			var id trade.Hash
			if err := id.UnmarshalText([]byte(at.growing)); err != nil {
				return err
			}
			_, newest, err = m.Show(ctx, id)
			return err
		}); err != nil {
			return err
		}
		if newest.Number != at.periods {
			return fmt.Errorf("the newest period is the %d., want %d", newest.Number, at.periods)
		}
		paid := 0
		if err := r.each(at, func(p *pair, _ *trade.Chain, s *trade.State) error {
			if s.Offer.Hash != newest.Hash || !s.Phase.Paid() {
				return nil
			}
			paid++
			return r.holds(p, s)
		}); err != nil {
			return err
		}
		if paid != 1 {
			return fmt.Errorf("period %d is paid %d times", newest.Number, paid)
		}
	}
	return nil
}

// moved takes a listing with a paid order to the other market.
func (r *round) moved() func() error {
	title := fmt.Sprintf("Garden number%d", r.n)
	var listing string
	r.ok(r.pair.seller.do(&listing, command{Do: "publish", Market: r.at.url, Title: title}))
	r.reach(listing, r.buyer("pay"))
	if r.chance.IntN(2) == 0 {
		for _, do := range []func() error{r.seller("sales"), r.buyer("accept"), r.buyer("review")} {
			r.ok(do())
		}
	}
	return func() error {
		if err := r.pair.seller.do(nil, command{Do: "move", Market: r.other.url}); err != nil {
			return err
		}
		_ = r.pair.buyer.do(nil, command{Do: "move", Market: r.other.url}) // orders of listings that have ended since are refused
		for at, want := range map[*place]int{r.at: 0, r.other: 1} {
			if err := r.as(r.pair, at, func(ctx context.Context, m *remote.Market) error {
				_, all, err := m.Search(ctx, url.Values{"q": {title}})
				if err == nil && len(all) != want {
					err = fmt.Errorf("%d listings at %s, want %d", len(all), at.url, want)
				}
				if err == nil && want > 0 {
					r.there = all[0].ID()
				}
				return err
			}); err != nil {
				return err
			}
		}
		known := false
		if err := r.as(r.pair, r.other, func(ctx context.Context, m *remote.Market) error {
			for skip := 0; ; skip += trade.MaxOrders {
				_, states, err := m.MovedOrders(ctx, skip)
				if err != nil || len(states) == 0 {
					return err
				}
				for _, s := range states {
					known = known || s.ID.String() == r.order
				}
			}
		}); err != nil {
			return err
		}
		if !known {
			return errors.New("the other market does not know the order")
		}
		return nil
	}
}
