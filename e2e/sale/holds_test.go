package sale

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// each calls f with all orders at a market.
func (w *world) each(at *place, f func(*pair, *trade.Chain, *trade.State) error) error {
	for _, p := range w.pairs {
		if err := w.as(p, at, func(ctx context.Context, m *remote.Market) error {
			for skip := 0; ; skip += trade.MaxOrders {
				chains, states, err := m.Orders(ctx, "buyer", "", skip)
				if err != nil || len(states) == 0 {
					return err
				}
				for i, s := range states {
					if err := f(p, &chains[i], s); err != nil {
						return fmt.Errorf("order %s: %w", s.ID, err)
					}
				}
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// holds checks the invariants of an order, and of its buyer's copy.
func (w *world) holds(p *pair, s *trade.State) error {
	divided := s.Held + s.Paid + s.Back
	switch {
	case len(s.Wrapped) > 0 && divided != s.Order.Price:
		return fmt.Errorf("a key without its price: %d", divided)
	case s.Phase.Paid() && divided != s.Order.Price:
		return fmt.Errorf("%s, and %d of %d are somewhere", s.Phase, divided, s.Order.Price)
	case s.Paid > 0 && len(s.Wrapped) == 0:
		return errors.New("the seller was paid, and delivered nothing")
	case s.Phase.Ended() && s.Held > 0:
		return fmt.Errorf("the order has ended (%s), but the market still holds %d", s.Phase, s.Held)
	case !s.Phase.Ended() && s.Deadline == 0:
		return fmt.Errorf("%s, and no time limit", s.Phase)
	}
	b := &market.Buyer{Dir: p.dir, Now: now}
	o, err := b.Find(s.ID.String())
	switch {
	case errors.Is(err, fs.ErrNotExist) || err != nil && !s.Phase.Paid():
		if s.Phase.Paid() {
			return errors.New("it was paid, and its buyer has no file of it")
		}
		return nil
	case err != nil:
		return err
	case len(s.Wrapped) > 0 && !o.IsComplete():
		return errors.New("a key was delivered, and the buyer has no items")
	case len(s.Wrapped) > 0:
		_, err = b.Open(o)
	}
	return err
}

// books checks every order, every file of the buyers, each balance and the ledgers, and returns how
// many orders there are.
func (w *world) books() (orders int) {
	w.t.Helper()
	for _, at := range w.places {
		spent, earned := map[*pair]int64{}, map[*pair]int64{}
		kept := map[*pair]int{}
		w.ok(w.each(at, func(p *pair, c *trade.Chain, s *trade.State) error {
			orders++
			spent[p] += int64(s.Held + s.Paid)
			earned[p] += int64(s.Paid - s.Paid*fee/10000)
			if o, err := market.Read(filepath.Join(p.dir, "orders", s.ID.String()+".bought")); err == nil {
				kept[p]++
				if !c.Extends(&o.Chain) {
					return errors.New("the buyer's file has another history")
				}
			}
			return w.holds(p, s)
		}))
		for _, p := range w.pairs {
			w.ok(w.as(p, at, func(ctx context.Context, m *remote.Market) error {
				has, err := m.Balance(ctx)
				if err == nil && (len(has) != 1 || has[0].Spend != deposited-spent[p]) {
					err = fmt.Errorf("a buyer who spent %d of %d has %+v", spent[p], deposited, has)
				}
				return err
			}))
			all, err := (&market.Buyer{Dir: p.dir, Now: now}).Orders()
			w.ok(err)
			here, unpaid := 0, 0 // the market may have forgotten these
			for _, o := range all {
				if o.Market == at.url {
					here++
					if o.State.Phase == trade.Ordered || o.State.Phase == trade.Expired {
						unpaid++
					}
				}
			}
			if here < kept[p] || here > kept[p]+unpaid {
				w.t.Fatalf("a buyer has %d orders of %s, %d never paid, and %d are there", here, at.url, unpaid, kept[p])
			}
		}
		var total int64
		w.ok(at.do(&total, command{Do: "earned"}))
		if want := earned[w.pairs[0]] + earned[w.pairs[1]]; total != want {
			w.t.Fatalf("the sellers have %d, want %d", total, want)
		}
		w.ok(at.do(nil, command{Do: "check"}))
	}
	return orders
}
