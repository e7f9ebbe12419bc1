package market

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

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
	for _, l := range newestOf(all) {
		if l.Market == to || !l.Sent || !l.Withdrawn.IsZero() && (l.MovedTo == nil || l.MovedTo.Market != to || l.MovedTo.All) {
			continue
		}
		m := serve.MovedListing{Listing: l.ID, Title: l.Title}
		if err := s.moveOne(ctx, &l, to, r.Abandon, &m); err != nil {
			m.Why = err.Error()
		}
		out = append(out, m)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	return out, nil
}

// address is the form of a market's URL in which it is kept.
func (s *Shop) address(url string) (string, error) {
	if url == "" {
		return "", fmt.Errorf("%w: the market to move to is needed", memory.ErrInvalid)
	}
	r, err := remote.New(url, remote.Option{HTTP: s.c.HTTP, Now: s.c.Now})
	if err != nil {
		return "", fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	defer r.Close()
	return r.Address(), nil
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

// moveOne moves a listing. The new one is kept here before its market hears of it, so
// that a second try goes on with the same one.
func (s *Shop) moveOne(ctx context.Context, l *listed, to string, abandon bool, m *serve.MovedListing) error {
	if err := s.forSale(ctx, l); err != nil {
		return err
	}
	_, was, err := offeredIn(s.c.Dir, l.Version)
	if err != nil {
		return err
	}
	if !abandon {
		if err := s.at(l.Market, func(m *remote.Market, by trade.Party) error { // what was ordered meanwhile
			all, err := s.list(ctx)
			if err != nil {
				return err
			}
			k := s.keeper(all, l.Market)
			return orders(ctx, m, by, func(c *trade.Chain, st *trade.State) error { return k.keep(ctx, c, st) })
		}); err != nil {
			return fmt.Errorf("%s: %w; if it is gone for good, --abandon asks it nothing", l.Market, err)
		}
	}
	err = s.at(to, func(at *remote.Market, by trade.Party) error {
		here, err := s.offerAt(ctx, at, by, l, &was, to)
		if err != nil {
			return err
		}
		m.Now = here.ID()
		return s.bring(ctx, at, by, was.offer, here, m)
	})
	if err != nil {
		return err
	}
	if err := s.left(ctx, l, to, abandon); err != nil || abandon {
		return err
	}
	if err := s.withdraw(ctx, l, "It moved to "+to+"."); err != nil {
		return fmt.Errorf("it moved, and is for sale at %s still: %w", l.Market, err)
	}
	return nil
}

// offerAt lists the same bundle at another market, once.
func (s *Shop) offerAt(ctx context.Context, at *remote.Market, by trade.Party, l *listed, was *carried, to string) (*trade.Offer, error) {
	if l.MovedTo != nil && l.MovedTo.Market == to {
		_, c, err := offeredIn(s.c.Dir, l.MovedTo.Listing)
		if err != nil {
			return nil, err
		}
		return c.offer, at.Publish(ctx, c.offer, c.items)
	}
	terms, err := at.Terms(ctx)
	if err != nil {
		return nil, err
	}
	arbiter, err := envelope.ParseRequest(terms.Arbiter)
	if err != nil {
		return nil, fmt.Errorf("the market's arbiter: %w: %w", remote.ErrAnswer, err)
	}
	next := was.offer.Listing
	if next.Market == terms.Market {
		return nil, fmt.Errorf("%w: the same market answers there", serve.ErrConflict)
	}
	next.Number, next.First, next.Prev, next.Created = 1, trade.Hash{}, trade.Hash{}, s.c.Now().Unix()
	next.Market, next.Arbiter = terms.Market, trade.KeyOf(arbiter.Key)
	o, err := trade.SignListing(next, by)
	if err != nil {
		return nil, err
	}
	if err := s.keepOffered(to, o, was.items); err != nil {
		return nil, err
	}
	kept := *l
	kept.MovedTo, kept.Why, kept.Withdrawn = nil, "", time.Time{}
	kept.ID, kept.Version, kept.Number, kept.Market, kept.Created = o.Hash, o.Hash, 1, to, s.c.Now().UTC().Truncate(time.Second)
	l.MovedTo = &movedTo{Market: to, Listing: o.Hash}
	if err := s.change(ctx, func(all []listed) []listed {
		for i := range all {
			if all[i].Version == l.Version {
				all[i].MovedTo = l.MovedTo
			}
		}
		return slices.Insert(all, 0, kept)
	}); err != nil {
		return nil, err
	}
	if err := s.c.Bundler.Sold(ctx, share.DidList, o.Title, "", int(o.Items), ""); err != nil {
		return nil, err
	}
	return o, at.Publish(ctx, o, was.items)
}

// bring takes the listing's history along: that it is the same, and its paid orders.
func (s *Shop) bring(ctx context.Context, at *remote.Market, by trade.Party, was, here *trade.Offer, m *serve.MovedListing) error {
	move := trade.Move{Market: here.Market, From: was.Market, Listing: was.ID(), Offer: here.ID(), At: s.c.Now().Unix()}
	signed, err := trade.SignMove(move, by)
	if err != nil {
		return err
	}
	if err := at.TakeOver(ctx, trade.Moving{Move: signed, Listing: was.Signed}); err != nil {
		return err
	}
	chains, err := s.sold(ctx, was.ID())
	if err != nil {
		return err
	}
	var failed []error
	for i := range chains {
		err := bringOrder(ctx, at, by, here.Market, &chains[i], nil, s.c.Now())
		if failed = append(failed, err); err == nil {
			m.Orders++
		}
	}
	return errors.Join(failed...)
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

// left notes that a listing has moved, with all of it. An abandoned one is withdrawn
// here alone, and its market is asked nothing any more.
func (s *Shop) left(ctx context.Context, l *listed, to string, abandoned bool) error {
	return s.change(ctx, func(all []listed) []listed {
		for i := range all {
			if all[i].ID != l.ID {
				continue
			}
			if all[i].Version == l.Version && all[i].MovedTo != nil {
				all[i].MovedTo.All = true
			}
			if abandoned {
				all[i].Gone, all[i].Withdrawn, all[i].Why = true, s.c.Now().UTC().Truncate(time.Second), "It moved to "+to+"."
			}
		}
		return all
	})
}

// Carried is an order that was brought to another market, or why it was not.
type Carried struct {
	Order *Bought
	Err   error
}

// Move brings what was bought, with the buyer's reviews, to another market. The one
// where it was bought is asked nothing. Orders that were never paid stay.
func (b *Buyer) Move(ctx context.Context, to string) (out []Carried, err error) {
	list, err := b.Orders()
	if err != nil {
		return nil, err
	}
	err = b.At(ctx, to, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
		for _, o := range list {
			if o.State.Offer.Market == terms.Market || o.State.Phase == trade.Ordered || o.State.Phase == trade.Expired {
				continue
			}
			review, err := os.ReadFile(b.reviewFile(o.State.ID))
			if errors.Is(err, fs.ErrNotExist) {
				review, err = nil, nil
			}
			if err == nil {
				err = bringOrder(ctx, m, by, terms.Market, &o.Chain, review, b.now())
			}
			out = append(out, Carried{o, err})
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	return out, err
}

// reviewFile is where the buyer's copy of a review is, signed.
func (b *Buyer) reviewFile(order trade.Hash) string {
	return strings.TrimSuffix(b.file(order), boughtExt) + ".review"
}

func (b *Buyer) keepReview(order trade.Hash, signed []byte) error {
	return atomicfile.Write(b.reviewFile(order), signed)
}
