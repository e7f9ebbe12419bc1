package market

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// Sales checks for orders, and delivers those that need no approval.
func (s *Shop) Sales(ctx context.Context) (out []serve.Sale, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := []error{s.forgetTold(ctx)}
	all, err := s.list(ctx)
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err, failed[0])
	}
	failed = append(failed, s.check(ctx, all), s.issue(ctx, all))
	if all, err = s.list(ctx); err != nil {
		return nil, err
	}
	open := map[trade.Hash]bool{} // versions with orders that have not ended
	answered := map[string]bool{} // markets whose orders are all known; if one fails, the others are still processed
	for _, address := range markets(all) {
		keeper := s.keeper(all, address)
		ctx, cancel := s.within(ctx)
		err := s.at(address, func(m *remote.Market, by trade.Party) error {
			return orders(ctx, m, by, func(c *trade.Chain, st *trade.State) error {
				if elsewhere(all, st, address) {
					return nil
				}
				failed = append(failed, keeper.save(ctx, c, st))
				sale, err := s.fulfil(ctx, m, by, all, st)
				failed = append(failed, err)
				open[st.Offer.Hash] = open[st.Offer.Hash] || !sale.Phase.Ended()
				out = append(out, sale)
				return nil
			})
		})
		cancel()
		answered[address], failed = err == nil, append(failed, err)
	}
	for _, l := range all { // adds what a market that failed did not report
		open[l.Version] = open[l.Version] || !l.Gone && !answered[l.Market]
	}
	return out, errors.Join(append(failed, s.drop(ctx, all, open))...)
}

// markets returns the addresses of the markets at which something was listed.
func markets(all []listed) (out []string) {
	for _, l := range all {
		if !l.Gone && !slices.Contains(out, l.Market) {
			out = append(out, l.Market)
		}
	}
	return out
}

// orders calls f with each order of the seller at a market, once. Those that wait for the seller come
// first, because a market shows only the newest thousand. Orders for something that this home never
// signed are skipped.
func orders(ctx context.Context, m *remote.Market, by trade.Party, f func(*trade.Chain, *trade.State) error) error {
	known := map[trade.Hash]bool{}
	for _, phase := range []trade.Phase{trade.Funded, ""} {
		for skip := 0; skip <= trade.MaxSkip; skip += trade.MaxOrders {
			chains, states, err := m.Orders(ctx, "seller", phase, skip)
			if err != nil {
				return err
			}
			for i, st := range states {
				if st.Offer.Seller != by.Key || known[st.ID] {
					continue
				}
				known[st.ID] = true
				if err := f(&chains[i], st); err != nil {
					return err
				}
			}
			if len(states) < trade.MaxOrders {
				break
			}
		}
	}
	return nil
}

// elsewhere reports whether an order is of a version that this home listed at another market than
// the one that shows it. At that market, the price may have gone back meanwhile.
func elsewhere(all []listed, st *trade.State, address string) bool {
	l := versionOf(all, st.Offer.Hash)
	return l != nil && l.Market != address
}

// fulfil delivers the key or the answer of one order if that needs no approval, and
// refunds an order that may not be delivered.
func (s *Shop) fulfil(ctx context.Context, m *remote.Market, by trade.Party, all []listed, st *trade.State) (serve.Sale, error) {
	l := versionOf(all, st.Offer.Hash)
	var err error
	waits := false
	if st.Offer.Entry {
		return s.entry(ctx, m, by, l, st, false)
	}
	switch {
	case st.Phase != trade.Funded || l == nil:
	case len(l.Key) == 0:
		st, err = s.refund(ctx, m, by, st, notForSale)
	case st.Offer.Answers != nil:
		return s.answer(ctx, m, by, l, st, false)
	case l.Approve:
		var why string
		if why, err = s.withheld(ctx, l); err == nil && why != "" {
			st, err = s.refund(ctx, m, by, st, notForSale)
		}
		waits = st.Phase == trade.Funded
	default:
		st, err = s.deliver(ctx, m, by, l, st)
	}
	return saleOf(st, waits), err
}

// notForSale is what a buyer is told whose price is refunded.
const notForSale = "it is not for sale any more"

func versionOf(all []listed, version trade.Hash) *listed {
	i := slices.IndexFunc(all, func(l listed) bool { return l.Version == version })
	if i < 0 {
		return nil
	}
	return &all[i]
}

func saleOf(st *trade.State, waits bool) serve.Sale {
	v := serve.Sale{Order: st.ID, Listing: st.Offer.ID(), Title: st.Offer.Title, Buyer: st.Order.Buyer, Phase: st.Phase,
		Price: trade.Price(st.Order.Price, st.Order.Currency), Waits: waits, Reason: st.Reason}
	if st.Paid > 0 {
		v.Paid = trade.Price(st.Paid, st.Order.Currency)
	}
	if st.Deadline > 0 {
		v.Deadline = time.Unix(st.Deadline, 0).UTC()
	}
	return v
}

// deliver wraps the bundle's key for the order's recipient. If a memory in the bundle
// may not be sold any more, it refunds the price instead.
func (s *Shop) deliver(ctx context.Context, m *remote.Market, by trade.Party, l *listed, st *trade.State) (*trade.State, error) {
	why, err := s.withheld(ctx, l)
	if err != nil {
		return st, err
	}
	if why != "" {
		return s.refund(ctx, m, by, st, notForSale)
	}
	k, err := seal.KeyFromBytes(l.Key)
	if err != nil {
		return st, err
	}
	defer k.Zero()
	wrapped, err := s.wrap(l, k, st)
	if errors.Is(err, trade.ErrForm) { // nobody could open it
		return s.refund(ctx, m, by, st, "the order's recipient is not a key")
	}
	if err != nil {
		return st, err
	}
	if err := s.c.Bundler.LogSale(ctx, share.DidSell, l.Title, "buyer "+st.Order.Buyer.String()[:8], l.Items, ""); err != nil {
		return st, err
	}
	if st.Offer.Marks > 0 && !l.Sold { // before the copy is sent, because its owner can then pass it on
		if err := s.each(ctx, func(v *listed) { v.Sold = v.Sold || v.Version == l.Version }); err != nil {
			return st, err
		}
	}
	return s.step(ctx, m, by, st, trade.Step{Act: trade.Deliver, Wrapped: wrapped})
}

func (s *Shop) refund(ctx context.Context, m *remote.Market, by trade.Party, st *trade.State, reason string) (*trade.State, error) {
	return s.step(ctx, m, by, st, trade.Step{Act: trade.Cancel, Reason: reason})
}

func (s *Shop) step(ctx context.Context, m *remote.Market, by trade.Party, st *trade.State, step trade.Step) (*trade.State, error) {
	step.Order, step.Prev, step.At = st.ID, st.Last, s.c.Now().Unix()
	b, _, err := trade.SignStep(step, by)
	if err != nil {
		return st, err
	}
	c, after, err := m.Step(ctx, st.ID, b)
	if err != nil {
		return st, err
	}
	_, err = s.follow(ctx, c, after)
	return after, err
}

// Settle delivers the key of an order, or refunds it.
func (s *Shop) Settle(ctx context.Context, r serve.SaleRequest) (v serve.Sale, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.Order) < 8 {
		return v, fmt.Errorf("%w: sale %q: want at least 8 characters of its order's id", memory.ErrInvalid, r.Order)
	}
	if r.Act != serve.DeliverSale && r.Act != serve.RefundSale {
		return v, fmt.Errorf("%w: act: %.20q, want deliver or refund", memory.ErrInvalid, r.Act)
	}
	all, err := s.list(ctx)
	if err != nil {
		return v, err
	}
	for _, address := range markets(all) {
		found := false
		err := s.at(address, func(m *remote.Market, by trade.Party) error {
			var named []*trade.State
			err := orders(ctx, m, by, func(_ *trade.Chain, st *trade.State) error {
				if strings.HasPrefix(st.ID.String(), strings.ToLower(r.Order)) && !elsewhere(all, st, address) {
					named = append(named, st)
				}
				return nil
			})
			if found = len(named) > 0; err != nil || !found {
				return err
			}
			if len(named) > 1 { // a buyer can make orders until the id of one begins like another's
				return fmt.Errorf("order %s: %w", r.Order, memory.ErrAmbiguous)
			}
			v, err = s.settle(ctx, m, by, all, named[0], &r)
			return err
		})
		if found || err != nil {
			return v, err
		}
	}
	return v, fmt.Errorf("order %s: %w", r.Order, memory.ErrNotFound)
}

func (s *Shop) settle(ctx context.Context, m *remote.Market, by trade.Party, all []listed, st *trade.State, r *serve.SaleRequest) (v serve.Sale, err error) {
	if r.Act == serve.RefundSale {
		if st.Offer.Answers != nil && !st.Offer.Entry && r.Reason == "" {
			r.Reason = noAnswer // it does not reveal whether there was one to approve
		}
		st, err = s.refund(ctx, m, by, st, r.Reason)
		return saleOf(st, false), err
	}
	l := versionOf(all, st.Offer.Hash)
	if l == nil || len(l.Key) == 0 {
		return v, fmt.Errorf("order %s: %w: this home has no key of its bundle", r.Order, serve.ErrConflict)
	}
	if st.Phase != trade.Funded {
		return v, fmt.Errorf("order %s: %w: it is %s", r.Order, serve.ErrConflict, st.Phase)
	}
	if st.Offer.Entry {
		v, err = s.entry(ctx, m, by, l, st, true)
	} else if st.Offer.Answers != nil {
		v, err = s.answer(ctx, m, by, l, st, true)
	} else {
		st, err = s.deliver(ctx, m, by, l, st)
		v = saleOf(st, false)
	}
	if err == nil && v.Phase == trade.Refunded {
		err = fmt.Errorf("order %s: %w: nothing was delivered, and the price went back to the buyer: %s", r.Order, serve.ErrConflict, v.Reason)
	}
	return v, err
}

// payOut withdraws earnings from a market, as a voucher, and says what is left. It can be repeated
// after an error: the same amount is not withdrawn twice.
func (s *Shop) payOut(ctx context.Context, r serve.PayoutRequest) (v serve.Payout, err error) {
	r.Market = cmp.Or(r.Market, s.c.Relay())
	if r.Market == "" {
		return v, errNoMarket
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.at(r.Market, func(m *remote.Market, _ trade.Party) error {
		if r.Amount != "" {
			terms, err := m.Terms(ctx)
			if err == nil {
				v.Voucher, err = takeOut(ctx, m, terms.Market, r.Amount, false, storedPayouts{s.c.Store})
			}
			if err != nil {
				return err
			}
		}
		list, err := m.Balance(ctx)
		if err != nil && v.Voucher != "" { // it must not be lost because the rest of the answer failed
			v.EarnedError = err.Error()
			return nil
		}
		if err != nil {
			return err
		}
		v.Earned = []string{}
		for _, b := range list {
			if b.Earned > 0 {
				v.Earned = append(v.Earned, trade.Price(uint64(b.Earned), b.Currency))
			}
		}
		return nil
	})
	return v, err
}

// Seller implements serve.Seller.
type Seller struct{ of opened.Of[*Shop] }

// NewSeller makes a Seller.
func NewSeller(of opened.Of[*Shop]) Seller { return Seller{of} }

func (s Seller) PreviewListing(ctx context.Context, r serve.ListingRequest) (v serve.SharePreview, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.Preview(ctx, r); return err })
	return v, err
}

func (s Seller) PublishListing(ctx context.Context, r serve.ListingRequest) (v serve.Listing, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.Publish(ctx, r); return err })
	return v, err
}

func (s Seller) Listings(ctx context.Context) (v []serve.Listing, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error {
		all, err := sh.list(ctx)
		for _, l := range newestOf(all) {
			v = append(v, l.Listing)
		}
		return err
	})
	return v, err
}

func (s Seller) MoveListings(ctx context.Context, r serve.MarketMove) (v []serve.MovedListing, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.Move(ctx, r); return err })
	return v, err
}

func (s Seller) WithdrawListing(ctx context.Context, id, reason string) (v serve.Listing, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.Withdraw(ctx, id, reason); return err })
	return v, err
}

func (s Seller) Sales(ctx context.Context) (v []serve.Sale, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.Sales(ctx); return err })
	return v, err
}

func (s Seller) SettleSale(ctx context.Context, r serve.SaleRequest) (v serve.Sale, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.Settle(ctx, r); return err })
	return v, err
}

func (s Seller) PayOutSales(ctx context.Context, r serve.PayoutRequest) (v serve.Payout, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.payOut(ctx, r); return err })
	return v, err
}
