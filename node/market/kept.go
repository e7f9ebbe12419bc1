package market

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/trade"
)

// saleMeta is followed by an order's id, for orders whose chain is stored: it is the
// seller's copy, which the market need not provide.
const saleMeta = "market sale "

// saleKeeper stores the paid orders of one market during one check. The market itself
// signs that an order is paid, so it can invent as many as it likes. Only orders of
// versions that it was sent are stored, and for one listing not more than could be moved.
type saleKeeper struct {
	s    *Shop
	all  []listed
	at   string                    // the market's address
	kept map[trade.Hash][]keptSale // of each listing, once they were read
}

type keptSale struct {
	name  string
	at    int64 // of the last step, in Unix seconds, by the market's clock
	ended bool
}

func (s *Shop) keeper(all []listed, address string) *saleKeeper {
	return &saleKeeper{s, all, address, map[trade.Hash][]keptSale{}}
}

// save stores the state of an order. If a listing has no room for another one, the new
// one replaces the order that ended first, if that ended earlier; otherwise the new one
// is not stored. For an order without room, only what tracing needs is recorded.
func (k *saleKeeper) save(ctx context.Context, c *trade.Chain, st *trade.State) error {
	l := versionOf(k.all, st.Offer.Hash)
	if l == nil || l.Market != k.at || !st.Phase.Paid() {
		return nil
	}
	known, err := k.s.follow(ctx, c, st)
	if err != nil || known {
		return err
	}
	list, looked := k.kept[l.ID]
	if !looked {
		if list, err = k.s.keptOf(ctx, l.ID); err != nil {
			return err
		}
	}
	drop := ""
	if len(list) >= trade.MaxMovedOrders {
		at := 0
		for i := range list {
			if cmp.Or(rank(list[i].ended, list[at].ended), cmp.Compare(list[i].at, list[at].at)) < 0 {
				at = i
			}
		}
		if !list[at].ended || list[at].at >= st.At {
			k.kept[l.ID] = list
			return k.s.c.Store.Commit(ctx, func(tx *store.Tx) error { return noteDelivered(tx, st) })
		}
		drop = list[at].name
		list = slices.Delete(list, at, at+1)
	}
	name := saleMeta + st.ID.String()
	k.kept[l.ID] = append(list, keptSale{name, st.At, st.Phase.Ended()})
	return k.s.c.Store.Commit(ctx, func(tx *store.Tx) error {
		if drop != "" {
			if err := dropKept(tx, drop); err != nil {
				return err
			}
		}
		return errors.Join(tx.DeleteMeta(deliveredName(st.Offer.Commitment, st.ID)), tx.PutMeta(name, trade.Encode(c)))
	})
}

// dropKept drops the chain of an order, and records what tracing needs.
func dropKept(tx *store.Tx, name string) error {
	var b []byte
	found, err := tx.Meta(name, &b)
	if err != nil || !found {
		return err
	}
	var c trade.Chain
	if err := trade.Decode(b, &c, trade.MaxChain); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	st, err := c.Replay()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(noteDelivered(tx, st), tx.DeleteMeta(name))
}

// rank sorts what has ended first.
func rank(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// follow stores the new state of an order that is stored already, and reports whether
// there is one. If a market shows fewer steps than before, or others, what is stored stays:
// it may be the receipt of a sale.
func (s *Shop) follow(ctx context.Context, c *trade.Chain, st *trade.State) (known bool, err error) {
	name, now := saleMeta+st.ID.String(), trade.Encode(c)
	var was []byte
	err = s.c.Store.View(ctx, func(tx *store.Tx) error { known, err = tx.Meta(name, &was); return err })
	if err != nil || !known || string(was) == string(now) {
		return known, err
	}
	var before trade.Chain
	if err := trade.Decode(was, &before, trade.MaxChain); err != nil {
		return true, fmt.Errorf("%s: %w", name, err)
	}
	if !c.Extends(&before) {
		s.c.Log.Warn("a market shows another history of an order than before; the one before is kept", "title", st.Offer.Title, "order", st.ID)
		return true, nil
	}
	return true, s.c.Store.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(name, now) })
}

func (s *Shop) keptOf(ctx context.Context, listing trade.Hash) (out []keptSale, err error) {
	chains, err := s.sold(ctx, listing)
	for i := range chains {
		st, err := chains[i].Replay()
		if err != nil {
			return nil, err
		}
		out = append(out, keptSale{saleMeta + st.ID.String(), st.At, st.Phase.Ended()})
	}
	return out, err
}

// sold returns the stored orders of a listing.
func (s *Shop) sold(ctx context.Context, listing trade.Hash) (out []trade.Chain, err error) {
	err = s.c.Store.View(ctx, func(tx *store.Tx) error {
		return keptSales(tx, func(c *trade.Chain, l *trade.Offer) {
			if l.ID() == listing {
				out = append(out, *c)
			}
		})
	})
	return out, err
}

// keptSales calls f with each stored order, and its listing.
func keptSales(tx *store.Tx, f func(*trade.Chain, *trade.Offer)) error {
	for name, err := range tx.MetaNames(saleMeta) {
		if err != nil {
			return err
		}
		var b []byte
		if _, err := tx.Meta(name, &b); err != nil {
			return err
		}
		var c trade.Chain
		if err := trade.Decode(b, &c, trade.MaxChain); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		l, err := trade.ReadListing(c.Listing)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f(&c, l)
	}
	return nil
}
