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

// counted returns how many orders of a listing are stored, and how many have not ended.
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

// Move lists what this home sells at another market, with the stored orders, and withdraws it at
// the old market. With r.Abandon the old market is not asked any more, because it is dead. Each
// result says what failed; another call continues the move.
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

// abandon marks what was withdrawn at every other market so that these markets are not asked any
// more, even before the listings have moved.
func (s *Shop) abandon(ctx context.Context, to string) error {
	return s.each(ctx, func(l *listed) { l.Gone = l.Gone || l.Market != to && !l.Withdrawn.IsZero() })
}

// address returns a market's URL in the form in which it is stored.
func (s *Shop) address(url string) (string, error) {
	if url == "" {
		return "", fmt.Errorf("%w: the market to move to is needed", memory.ErrInvalid)
	}
	return addressOf(url)
}

// newestOf returns the newest version of each listing.
func newestOf(all []listed) (out []listed) {
	for _, l := range all {
		if !slices.ContainsFunc(out, func(o listed) bool { return o.ID == l.ID }) {
			out = append(out, l)
		}
	}
	return out
}

// firstMoved returns the first version of a listing that was listed at another market; nil: none
// was. If its seller makes another version between two attempts, that one follows it.
func firstMoved(all []listed, id trade.Hash, to string) *listed {
	for i := range slices.Backward(all) {
		if l := &all[i]; l.ID == id && l.MovedTo != nil && l.MovedTo.Market == to {
			return l
		}
	}
	return nil
}

// moveOne moves a listing. The new one is stored here before its market is told, so that another
// attempt continues with the same one. Orders that the market refuses are reported, but do not hold
// up the listing.
func (s *Shop) moveOne(ctx context.Context, l, first *listed, to string, abandon bool, m *serve.MovedListing) error {
	there := !l.Withdrawn.IsZero() && first.MovedTo.Taken // it has moved, but some of its orders have not
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
			m.Orders, refused, err = s.moveOrders(ctx, at, by, terms.Market, l.ID)
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

// keepOrders stores what was ordered at a market meanwhile.
func (s *Shop) keepOrders(ctx context.Context, market string) error {
	return s.at(market, func(m *remote.Market, by trade.Party) error {
		all, err := s.list(ctx)
		if err != nil {
			return err
		}
		k := s.keeper(all, market)
		return orders(ctx, m, by, func(c *trade.Chain, st *trade.State) error { return k.save(ctx, c, st) })
	})
}

// takeTo lists a listing at another market, declares there where it was before, and lets a later
// version follow it. It returns the version that was listed first.
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

// keepMoved stores where a version moved.
func (s *Shop) keepMoved(ctx context.Context, l *listed) error {
	return s.each(ctx, func(kept *listed) {
		if kept.Version == l.Version {
			kept.MovedTo = l.MovedTo
		}
	})
}

// offerAt offers the same bundle at another market, as the version after last if that is not nil.
// The market is not told yet.
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

// moveOrders moves the paid orders of a listing. refused are those that the market did not accept.
func (s *Shop) moveOrders(ctx context.Context, at *remote.Market, by trade.Party, to trade.Key, listing trade.Hash) (n int, refused, err error) {
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

// bringOrder moves one order to a market, as its buyer or its seller.
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

// noteMoved records that a listing has moved, and whether all of its orders did. An abandoned
// listing is only withdrawn here, and its market is not asked any more.
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
