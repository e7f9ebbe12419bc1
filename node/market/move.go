package market

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// counted says how many orders of a listing are kept, and how many have not ended.
func (s *Shop) counted(ctx context.Context, listing trade.Hash) (all, open int, err error) {
	chains, err := s.sold(ctx, listing)
	for i := range chains {
		st, err := chains[i].Replay()
		if err != nil {
			return 0, 0, err
		}
		if !st.Phase.Ended() {
			open++
		}
	}
	return len(chains), open, err
}

// Move lists at another market what this home sells, with the orders that it keeps of
// it, and withdraws it where it was. With r.Abandon the market where it was is asked
// nothing any more: it is dead. What failed is said of each listing, and moves when it
// is called again.
func (s *Shop) Move(ctx context.Context, r serve.MarketMove) (out []serve.MovedListing, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	to, err := s.address(r.To)
	if err != nil {
		return nil, err
	}
	known := slices.DeleteFunc(slices.Clone(all), func(l listed) bool { return !l.Sent })
	for _, l := range newestOf(known) {
		first := firstMoved(all, l.ID, to)
		if l.Market == to || !l.Withdrawn.IsZero() && (first == nil || first.MovedTo.All || !first.MovedTo.Taken) {
			continue
		}
		m := serve.MovedListing{Listing: l.ID, Title: l.Title}
		if r.DryRun {
			if m.Orders, m.Open, err = s.counted(ctx, l.ID); err != nil {
				return out, err
			}
			out = append(out, m)
			continue
		}
		if err := s.moveOne(ctx, &l, first, to, r.Abandon, &m); err != nil {
			m.Why = err.Error()
		}
		out = append(out, m)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	if r.Abandon && !r.DryRun {
		err = s.abandon(ctx, to)
	}
	return out, err
}

// abandon has every market but one asked nothing any more about what was withdrawn,
// also before its listings moved.
func (s *Shop) abandon(ctx context.Context, to string) error {
	return s.each(ctx, func(l *listed) { l.Gone = l.Gone || l.Market != to && !l.Withdrawn.IsZero() })
}

// address is the form of a market's URL in which it is kept.
func (s *Shop) address(url string) (string, error) {
	if url == "" {
		return "", fmt.Errorf("%w: the market to move to is needed", memory.ErrInvalid)
	}
	return addressOf(url)
}

// newestOf gives the newest version of each listing.
func newestOf(all []listed) (out []listed) {
	for _, l := range all {
		if !slices.ContainsFunc(out, func(o listed) bool { return o.ID == l.ID }) {
			out = append(out, l)
		}
	}
	return out
}

// firstMoved gives the first version of a listing that was listed at another market;
// nil: none was. Where its seller makes another version between two tries, that one
// follows it.
func firstMoved(all []listed, id trade.Hash, to string) *listed {
	for i := range slices.Backward(all) {
		if l := &all[i]; l.ID == id && l.MovedTo != nil && l.MovedTo.Market == to {
			return l
		}
	}
	return nil
}

// moveOne moves a listing. The new one is kept here before its market hears of it, so
// that a second try goes on with the same one. Orders that the market refuses are
// reported, and keep the listing from nothing.
func (s *Shop) moveOne(ctx context.Context, l, first *listed, to string, abandon bool, m *serve.MovedListing) error {
	there := !l.Withdrawn.IsZero() && first.MovedTo.Taken // it moved, and some of its orders did not
	if !there {
		if err := s.forSale(ctx, l); err != nil {
			return err
		}
	}
	if !abandon && !l.Gone {
		if err := s.keepOrders(ctx, l.Market); err != nil {
			return fmt.Errorf("%s: %w; if the market is gone for good, use --abandon, which does not ask it", l.Market, err)
		}
	}
	var refused error // orders
	err := s.at(to, func(at *remote.Market, by trade.Party) (err error) {
		if !there {
			if first, err = s.takeTo(ctx, at, by, l, first, to); err != nil {
				return err
			}
		}
		m.Now = first.MovedTo.Listing
		terms, err := at.Terms(ctx)
		if err == nil {
			m.Orders, refused, err = s.bring(ctx, at, by, terms.Market, l.ID)
		}
		return err
	})
	if err == nil {
		err = s.noteMoved(ctx, l, to, refused == nil, abandon)
	}
	if err != nil {
		return errors.Join(err, refused)
	}
	if !abandon {
		if err := s.withdraw(ctx, l, "It moved to "+to+"."); err != nil {
			return errors.Join(fmt.Errorf("it moved, and is for sale at %s still: %w", l.Market, err), refused)
		}
	}
	if refused != nil {
		return fmt.Errorf("it moved, and these orders did not: %w", refused)
	}
	return nil
}

// keepOrders keeps what was ordered at a market meanwhile.
func (s *Shop) keepOrders(ctx context.Context, market string) error {
	return s.at(market, func(m *remote.Market, by trade.Party) error {
		all, err := s.list(ctx)
		if err != nil {
			return err
		}
		k := s.keeper(all, market)
		return orders(ctx, m, by, func(c *trade.Chain, st *trade.State) error { return k.keep(ctx, c, st) })
	})
}

// takeTo lists a listing at another market, says there where it was, and has a later
// version of it follow. It gives the version that was listed first.
func (s *Shop) takeTo(ctx context.Context, at *remote.Market, by trade.Party, l, first *listed, to string) (*listed, error) {
	if first == nil {
		if err := s.offerAt(ctx, at, by, l, nil, to); err != nil {
			return nil, err
		}
		first = l
	}
	_, here, err := offeredIn(s.c.Dir, first.MovedTo.Listing)
	if err != nil {
		return nil, err
	}
	all, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	if kept := versionOf(all, here.offer.Hash); kept == nil || !kept.Sent {
		if err := s.publishAt(ctx, at, &here); err != nil {
			return nil, err
		}
	}
	if !first.MovedTo.Taken {
		_, was, err := offeredIn(s.c.Dir, first.Version)
		if err != nil {
			return nil, err
		}
		signed, err := trade.SignMove(trade.Move{Market: here.offer.Market, From: was.offer.Market, Listing: was.offer.ID(), Offer: here.offer.ID(), At: s.c.Now().Unix()}, by)
		if err != nil {
			return nil, err
		}
		if err := at.TakeOver(ctx, trade.Moving{Move: signed, Listing: was.offer.Signed}); err != nil {
			return nil, err
		}
		first.MovedTo.Taken = true
		if err := s.keepMoved(ctx, first); err != nil {
			return nil, err
		}
	}
	if l.Version == first.Version || l.Request != nil { // a subscription issues its next period there
		return first, nil
	}
	if l.MovedTo == nil || l.MovedTo.Market != to {
		if err := s.offerAt(ctx, at, by, l, newestAt(all, here.offer.ID()), to); err != nil {
			return nil, err
		}
	}
	_, next, err := offeredIn(s.c.Dir, l.MovedTo.Listing)
	if err == nil {
		err = s.publishAt(ctx, at, &next)
	}
	return first, err
}

func newestAt(all []listed, id trade.Hash) *listed {
	if i := slices.IndexFunc(all, func(l listed) bool { return l.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// keepMoved keeps where a version moved.
func (s *Shop) keepMoved(ctx context.Context, l *listed) error {
	return s.each(ctx, func(kept *listed) {
		if kept.Version == l.Version {
			kept.MovedTo = l.MovedTo
		}
	})
}

// offerAt offers the same bundle at another market, as the version after last where that is not nil. The market hears
// nothing yet.
func (s *Shop) offerAt(ctx context.Context, at *remote.Market, by trade.Party, l, last *listed, to string) error {
	_, was, err := offeredIn(s.c.Dir, l.Version)
	if err != nil {
		return err
	}
	next := was.offer.Listing
	next.Number, next.First, next.Prev = 1, trade.Hash{}, trade.Hash{}
	if last != nil {
		next.Number, next.First, next.Prev = uint32(last.Number)+1, last.ID, last.Version
	}
	kept := *l
	kept.Market, kept.MovedTo, kept.Why, kept.Withdrawn, kept.Sent, kept.Gone = to, nil, "", time.Time{}, false, false
	_, err = s.offer(ctx, at, by, next, was.items, &kept, l)
	return err
}

// bring takes the paid orders of a listing along. refused are those that the market
// did not take.
func (s *Shop) bring(ctx context.Context, at *remote.Market, by trade.Party, to trade.Key, listing trade.Hash) (n int, refused, err error) {
	chains, err := s.sold(ctx, listing)
	if err != nil {
		return 0, nil, err
	}
	var failed []error
	for i := range chains {
		err := bringOrder(ctx, at, by, to, &chains[i], nil, s.c.Now())
		if failed = append(failed, err); err == nil {
			n++
		}
	}
	return n, errors.Join(failed...), ctx.Err()
}

// bringOrder takes one order to a market, as its buyer or its seller.
func bringOrder(ctx context.Context, at *remote.Market, by trade.Party, to trade.Key, c *trade.Chain, review []byte, now time.Time) error {
	st, err := c.Replay()
	if err != nil {
		return err
	}
	signed, err := trade.SignMove(trade.Move{Market: to, From: st.Offer.Market, Listing: st.Offer.ID(), Order: st.ID, Last: st.Last, At: now.Unix()}, by)
	if err != nil {
		return err
	}
	if err := at.TakeOver(ctx, trade.Moving{Move: signed, Order: trade.Encode(c), Review: review}); err != nil {
		return fmt.Errorf("order %s: %w", st.ID.String()[:10], err)
	}
	return nil
}

// noteMoved notes that a listing has moved, and whether all of its orders did. An abandoned one is withdrawn
// here alone, and its market is asked nothing any more.
func (s *Shop) noteMoved(ctx context.Context, l *listed, to string, whole, abandoned bool) error {
	return s.each(ctx, func(v *listed) {
		if v.ID != l.ID {
			return
		}
		if v.MovedTo != nil && v.MovedTo.Market == to {
			v.MovedTo.All = whole
		}
		if abandoned && !v.Gone {
			v.Gone, v.Withdrawn, v.Why = true, s.c.Now().UTC().Truncate(time.Second), "It moved to "+to+"."
		}
	})
}
