package market_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	"github.com/locket-dev/locket/sync/translog"
)

// old is the market from which things are moved. It can't be reached.
var old = tradetest.Party(31)

// elsewhere makes a listing of the old market, and an order of it that was accepted and reviewed
// there.
func elsewhere(h *house, items [][]byte) (*trade.Offer, *tradetest.Deal, []byte) {
	h.Helper()
	o := tradetest.Listing(h, items, func(l *trade.Listing) { l.Market = old.Key })
	d := tradetest.NewDealAt(h, o, old, tradetest.Buyer, [16]byte{1}, seal.NewIdentity().Recipient().String(), 1_800_000_000)
	d.Step(trade.Fund, old, nil)
	d.Step(trade.Deliver, tradetest.Seller, nil)
	d.Step(trade.Accept, tradetest.Buyer, nil)
	r, _, err := trade.SignReview(trade.Review{Order: d.State.ID, Last: d.State.Last, Stars: 4, Text: "As it says."}, tradetest.Buyer)
	h.ok(err)
	return o, d, r
}

func (h *house) move(by trade.Party, was *trade.Offer, change func(*trade.Move, *trade.Moving)) error {
	h.Helper()
	m := trade.Move{Market: tradetest.Market.Key, From: was.Market, Listing: was.ID(), At: 1}
	in := trade.Moving{}
	change(&m, &in)
	var err error
	in.Move, err = trade.SignMove(m, by)
	h.ok(err)
	return h.TakeOver(h.Context(), in, by.Key)
}

// offer lists items that are sealed already.
func (h *house) offer(items [][]byte, change func(*trade.Listing)) *trade.Offer {
	h.Helper()
	l := tradetest.Listing(h, items, change)
	_, err := h.Publish(h.Context(), &trade.Publication{Listing: l.Signed, Items: items}, tradetest.Seller.Key)
	h.ok(err)
	return l
}

// ofListing and ofOrder are what a seller and a buyer move.
func ofListing(was, here *trade.Offer) func(*trade.Move, *trade.Moving) {
	return func(m *trade.Move, in *trade.Moving) { m.Offer, in.Listing = here.ID(), was.Signed }
}

func ofOrder(d *tradetest.Deal, review []byte) func(*trade.Move, *trade.Moving) {
	return func(m *trade.Move, in *trade.Moving) {
		m.Order, m.Last, in.Order, in.Review = d.State.ID, d.State.Last, trade.Encode(d.Chain), review
	}
}

func TestOrderMovedHere(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.Context()
		here, items := h.list(nil)
		was, deal, review := elsewhere(h, items)
		h.is(h.move(tradetest.Buyer, was, ofOrder(deal, review)), market.ErrNotFound) // its seller has to move first
		for range 2 {                                                                 // the second changes nothing
			h.ok(h.move(tradetest.Seller, was, ofListing(was, here)))
			h.ok(h.move(tradetest.Seller, was, ofOrder(deal, nil)))
			h.ok(h.move(tradetest.Buyer, was, ofOrder(deal, review)))
		}
		h.ok(h.move(tradetest.Seller, was, ofOrder(deal, nil))) // this does not remove the review
		v, err := h.Show(ctx, here.ID())
		h.ok(err)
		if len(v.Origins) != 1 || v.Origins[0].Sold != 1 || v.Origins[0].Reviews != 1 || v.Origins[0].Stars != 4 || len(v.Origins[0].Said) != 1 {
			h.Fatalf("%+v", v.Origins)
		}
		if v.Hit.Sold != 0 || v.Hit.Reviews != 0 || len(v.Reviews) != 0 {
			h.Errorf("what another market stamped counts as this one's: %+v", v.Hit)
		}
		for _, by := range []trade.Party{tradetest.Buyer, tradetest.Seller} {
			all, err := h.MovedOrders(ctx, by.Key, 0)
			h.ok(err)
			if len(all.Orders) != 1 {
				h.Fatalf("%d orders", len(all.Orders))
			}
		}
		b, err := h.Bundle(ctx, deal.State.ID, tradetest.Buyer.Key)
		h.ok(err)
		if string(b) != string(trade.Encode(items)) {
			h.Error("the bundle of an order that moved is another")
		}
		_, err = h.Bundle(ctx, deal.State.ID, tradetest.Party(9).Key)
		h.is(err, market.ErrNotFound)
		h.wrote(translog.Listed, translog.Moved, translog.Receipt, translog.Reviewed)
	})
}

// An order that continues at the old market is moved again; the known steps are never cut.
func TestOrderThatContinuesIsMovedAgain(t *testing.T) {
	each(t, func(h *house) {
		here, items := h.list(nil)
		was, ended, review := elsewhere(h, items)
		h.ok(h.move(tradetest.Seller, was, ofListing(was, here)))
		early := ended.Until(2)
		for _, d := range []*tradetest.Deal{early, ended, early} {
			h.ok(h.move(tradetest.Buyer, was, ofOrder(d, nil)))
		}
		h.ok(h.move(tradetest.Buyer, was, ofOrder(ended, review)))
		v, err := h.Show(h.Context(), here.ID())
		h.ok(err)
		if v.Origins[0].Sold != 1 || v.Origins[0].Reviews != 1 {
			h.Errorf("%+v", v.Origins[0])
		}
		// The old market stamped a different end of the same order.
		fork := ended.Until(2)
		fork.Step(trade.Cancel, tradetest.Seller, nil)
		h.is(h.move(tradetest.Buyer, was, ofOrder(fork, nil)), trade.ErrChain)
	})
}

// squat is Mallory's attack on a victim's listing: she lists the same bundle here as her own, signs
// a second version of the victim's listing at a market, and moves that.
func (h *house) squat(by trade.Party, was *trade.Offer, items [][]byte) *trade.Offer {
	h.Helper()
	l := was.Listing
	l.Market, l.Title = tradetest.Market.Key, "The same, by another"
	here, err := trade.SignListing(l, by)
	h.ok(err)
	_, err = h.Publish(h.Context(), &trade.Publication{Listing: here.Signed, Items: items}, by.Key)
	h.ok(err)
	l = was.Listing
	l.Number, l.First, l.Prev = 2, was.ID(), was.Hash
	forged, err := trade.SignListing(l, by)
	h.ok(err)
	h.ok(h.move(by, was, func(m *trade.Move, in *trade.Moving) {
		m.From, m.Offer, in.Listing = l.Market, here.ID(), forged.Signed
	}))
	return here
}

// Somebody who takes another's id for a version of their own does not stop the victim from moving,
// and gets none of the victim's sales. Neither does a seller who adds a market of their own.
func forgedID(h *house) {
	here, items := h.list(nil)
	was, deal, review := elsewhere(h, items)
	mallory := tradetest.Party(77)
	theirs := h.squat(mallory, was, items)
	h.is(h.move(tradetest.Buyer, was, ofOrder(deal, review)), market.ErrNotFound) // its seller has to move first
	h.ok(h.move(tradetest.Seller, was, ofListing(was, here)))
	h.ok(h.move(tradetest.Buyer, was, ofOrder(deal, review)))
	made := tradetest.Party(78) // a market that the seller has made up
	l := was.Listing
	l.Market, l.Number, l.First, l.Prev = made.Key, 2, was.ID(), was.Hash
	forged, err := trade.SignListing(l, tradetest.Seller)
	h.ok(err)
	d := tradetest.NewDealAt(h, forged, made, tradetest.Buyer, [16]byte{2}, seal.NewIdentity().Recipient().String(), 1_800_000_000)
	d.Step(trade.Fund, made, nil)
	h.is(h.move(tradetest.Seller, forged, ofOrder(d, nil)), market.ErrNotFound)
	for _, at := range []struct {
		id   trade.Hash
		sold uint32
	}{{here.ID(), 1}, {theirs.ID(), 0}} {
		v, err := h.Show(h.Context(), at.id)
		h.ok(err)
		if len(v.Origins) != 1 || v.Origins[0].Sold != at.sold || v.Origins[0].Reviews != at.sold {
			h.Errorf("%s: %+v, want %d sold", at.id, v.Origins, at.sold)
		}
	}
}

// Nobody can move what belongs to somebody else, or under another name, or to another's bundle; and
// somebody who runs a market of their own gains nothing at this one.
func TestThreatMoveForged(t *testing.T) {
	t.Run("id", func(t *testing.T) { each(t, forgedID) })
	each(t, func(h *house) {
		here, items := h.list(nil)
		was, deal, review := elsewhere(h, items)
		h.is(h.move(tradetest.Buyer, was, ofListing(was, here)), trade.ErrParty)
		other := h.offer(items, func(l *trade.Listing) { l.Commitment[0]++ }) // the same items, with a key that does not open them
		h.is(h.move(tradetest.Seller, was, ofListing(was, other)), trade.ErrRoot)
		h.ok(h.move(tradetest.Seller, was, ofListing(was, here)))
		second := h.offer(items, func(l *trade.Listing) { l.Created++ })
		h.is(h.move(tradetest.Seller, was, ofListing(was, second)), market.ErrVersion)
		h.is(h.move(tradetest.Party(9), was, ofOrder(deal, review)), trade.ErrParty)

		signed, err := trade.SignMove(trade.Move{Market: tradetest.Party(8).Key, From: old.Key, Listing: was.ID(), Offer: here.ID(), At: 1}, tradetest.Seller)
		h.ok(err)
		h.is(h.TakeOver(h.Context(), trade.Moving{Move: signed, Listing: was.Signed}, tradetest.Seller.Key), trade.ErrParty) // meant for another market
		signed, err = trade.SignMove(trade.Move{Market: tradetest.Market.Key, From: old.Key, Listing: was.ID(), Offer: here.ID(), At: 1}, tradetest.Seller)
		h.ok(err)
		h.is(h.TakeOver(h.Context(), trade.Moving{Move: signed, Listing: was.Signed}, tradetest.Buyer.Key), trade.ErrParty) // replayed by somebody else

		// Each changed byte of an order is detected.
		whole := trade.Encode(deal.Chain)
		for i := range whole {
			bad := append([]byte(nil), whole...)
			bad[i] ^= 1
			if err := h.move(tradetest.Buyer, was, func(m *trade.Move, in *trade.Moving) {
				m.Order, m.Last, in.Order = deal.State.ID, deal.State.Last, bad
			}); err == nil {
				h.Fatalf("byte %d of the order was changed, and it was taken", i)
			}
		}
		// A review by somebody who was not the buyer.
		own, _, err := trade.SignReview(trade.Review{Order: deal.State.ID, Last: deal.State.Last, Stars: 5}, tradetest.Seller)
		h.ok(err)
		h.is(h.move(tradetest.Seller, was, ofOrder(deal, own)), trade.ErrParty)
		// Sales of a market that the seller made up are shown as that market's.
		v, err := h.Show(h.Context(), here.ID())
		h.ok(err)
		if v.Hit.Sold != 0 || v.Hit.Reviews != 0 {
			h.Errorf("%+v", v.Hit)
		}
	})
}

// An order that moved here gets the bundle of the listing to which it moved, and not another
// seller's bundle that its own listing names: nobody paid for that.
func TestMovedOrderOfAnothersBundle(t *testing.T) {
	each(t, func(h *house) {
		victim, items := h.list(nil)
		thief, made, friend := tradetest.Party(66), tradetest.Party(77), tradetest.Party(67)
		own := items[:1]
		mine := tradetest.Listing(h, own, nil).Listing
		mine.Seller = thief.Key
		here, err := trade.SignListing(mine, thief)
		h.ok(err)
		_, err = h.Publish(h.Context(), &trade.Publication{Listing: here.Signed, Items: own}, thief.Key)
		h.ok(err)
		mine.Market = made.Key
		was, err := trade.SignListing(mine, thief)
		h.ok(err)
		h.ok(h.move(thief, was, ofListing(was, here)))
		order := func(l *trade.Offer) trade.Hash {
			h.Helper()
			d := tradetest.NewDealAt(h, l, made, friend, [16]byte{byte(l.Number)}, seal.NewIdentity().Recipient().String(), 1_800_000_000)
			d.Step(trade.Fund, made, nil)
			h.ok(h.move(thief, l, ofOrder(d, nil)))
			return d.State.ID
		}
		if _, err := h.Bundle(h.Context(), order(was), friend.Key); err != nil {
			t.Errorf("what moved here is not served: %v", err)
		}
		next := mine
		next.Number, next.First, next.Prev, next.Root = 2, was.Hash, was.Hash, victim.Root
		second, err := trade.SignListing(next, thief)
		h.ok(err)
		if b, err := h.Bundle(h.Context(), order(second), friend.Key); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("%d bytes of another's bundle, %v", len(b), err)
		}
	})
}

// The number of a listing's earlier markets is limited, because the seller can make any number of
// them.
func TestEarlierMarketsAreBounded(t *testing.T) {
	each(t, func(h *house) {
		here, items := h.list(nil)
		from := func(n byte) error {
			made := tradetest.Party(100 + n)
			was := tradetest.Listing(h, items, func(l *trade.Listing) { l.Market = made.Key })
			return h.move(tradetest.Seller, was, ofListing(was, here))
		}
		for n := range byte(8) {
			h.ok(from(n))
		}
		if err := from(8); !errors.Is(err, market.ErrFull) {
			t.Error(err)
		}
		h.ok(from(3)) // which is already known
	})
}

// Moved orders count towards what their seller may store, and so does what an order has grown by:
// all of them can be made for free.
func TestThreatMovedOrdersFillTheMarket(t *testing.T) {
	each(t, func(h *house) {
		here, items := h.list(nil)
		moved := func(from byte, text string) (*trade.Offer, trade.Party) {
			h.Helper()
			made := tradetest.Party(from)
			was := tradetest.Listing(h, items, func(l *trade.Listing) { l.Market, l.Description = made.Key, text })
			h.ok(h.move(tradetest.Seller, was, ofListing(was, here)))
			return was, made
		}
		order := func(was *trade.Offer, made trade.Party, n int) *tradetest.Deal {
			d := tradetest.NewDealAt(h, was, made, tradetest.Buyer, [16]byte{byte(n), byte(n >> 8)}, seal.NewIdentity().Recipient().String(), 1_800_000_000)
			d.Step(trade.Fund, made, nil)
			return d
		}
		small, first := moved(100, "Short.")
		grows := order(small, first, 0)
		h.ok(h.move(tradetest.Seller, small, ofOrder(grows, nil)))
		large, second := moved(101, strings.Repeat("words ", 666)+".")
		n := 1
		for _, fill := range []struct {
			was *trade.Offer
			by  trade.Party
		}{{large, second}, {small, first}} {
			var err error
			for ; err == nil && n < 900; n++ {
				err = h.move(tradetest.Seller, fill.was, ofOrder(order(fill.was, fill.by, n), nil))
			}
			h.is(err, market.ErrFull)
		}
		grows.Step(trade.Deliver, tradetest.Seller, func(s *trade.Step) { s.Wrapped = make([]byte, trade.MaxWrapped) })
		h.is(h.move(tradetest.Seller, small, ofOrder(grows, nil)), market.ErrFull)

		mine := tradetest.Listing(h, items, nil).Listing
		other := tradetest.Party(5)
		mine.Seller = other.Key
		l, err := trade.SignListing(mine, other)
		h.ok(err)
		_, err = h.Publish(h.Context(), &trade.Publication{Listing: l.Signed, Items: items}, other.Key)
		h.ok(err)
	})
}
