package market

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	cloudmarket "github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

const paidIn = 1_000_000 // minor units that each buyer in these tests begins with

// A buyer who pays is admitted, and then the owner is paid. Before that, nobody has the
// link, and the key opens nothing.
func TestEntry(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	v, err := c.rooms.Show(ctx, c.id.String())
	if err != nil || v.Fee != "5.00 EUR at "+c.url {
		t.Errorf("the members read %q, %v", v.Fee, err)
	}
	ann := c.buyer()
	o := c.enters(ann, "Ann", false)
	c.look()
	c.are("Mei") // ordered, and not paid
	ok(t, ann.Pay(ctx, o, ""))
	if got := c.has(ann); got != paidIn-500 || c.earned() != 0 {
		t.Errorf("ann has %d, the owner %d", got, c.earned())
	}
	annsRooms := c.member(ann.Dir)
	if _, err := annsRooms.Join(ctx, v.Link, "Club"); !errors.Is(err, community.ErrNotMember) {
		t.Errorf("joined before being let in: %v", err)
	}
	sales := c.look()
	if len(sales) != 1 || sales[0].Phase != trade.Delivered || !strings.HasPrefix(sales[0].Question, "Ann, whose key") {
		t.Fatalf("%+v", sales)
	}
	c.are("Ann", "Mei")
	if c.phase(ann, o) != trade.Delivered {
		t.Fatal(o.State.Phase)
	}
	items, err := ann.Open(o)
	ok(t, err)
	if len(items) != 1 || items[0].Text != v.Link {
		t.Fatalf("%+v", items)
	}
	if g, err := ann.Given(ctx, spaceOf(o.State.ID)); err != nil || len(g.Memories) > 0 {
		t.Errorf("the link answers in search: %+v, %v", g, err)
	}
	mine, err := annsRooms.Join(ctx, items[0].Text, "Club")
	if err != nil || mine.Role != "member" || mine.People != 2 {
		t.Fatalf("%+v, %v", mine, err)
	}
	ok(t, ann.Accept(ctx, o))
	c.look()
	if c.earned() != 500 || c.has(ann) != paidIn-500 {
		t.Errorf("the owner has %d, ann %d", c.earned(), c.has(ann))
	}
	if in, err := c.admitted(ctx, o.State.ID); in != nil || err != nil {
		t.Errorf("noted still: %+v, %v", in, err)
	}
	_, err = c.Withdraw(ctx, c.offer.ID().String(), "")
	ok(t, err)
	if v, err = c.rooms.Show(ctx, c.id.String()); err != nil || v.Fee != "" {
		t.Errorf("after the withdrawal the members read %q, %v", v.Fee, err)
	}
	c.are("Ann", "Mei")
}

// Nobody is charged who can't be admitted, and a member who was added by hand stays.
func TestEntryRefused(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	ann, bo, tom := c.buyer(), c.buyer(), c.buyer()
	text, _, err := c.member(ann.Dir).Reader.Key()
	ok(t, err)
	_, err = c.rooms.Invite(ctx, c.id.String(), serve.CommunityInvite{Who: "Ann=" + text})
	ok(t, err)
	already, taken, once := c.enters(ann, "Anna", true), c.enters(bo, "aNN\ufe0f", true), c.enters(tom, "Tom", true)
	c.look()
	twice := c.enters(tom, "Tom again", true)
	for range 2 {
		c.look()
	}
	for _, o := range []struct {
		b     *Buyer
		o     *Bought
		phase trade.Phase
		has   int64
	}{{ann, already, trade.Refunded, paidIn}, {bo, taken, trade.Refunded, paidIn}, {tom, once, trade.Delivered, paidIn - 500}, {tom, twice, trade.Refunded, paidIn - 500}} {
		if got := c.phase(o.b, o.o); got != o.phase || c.has(o.b) != o.has {
			t.Errorf("%s (%q), and %d left; want %s and %d", got, o.o.State.Reason, c.has(o.b), o.phase, o.has)
		}
	}
	c.are("Ann", "Mei", "Tom")
	for _, name := range []string{"", strings.Repeat("n", bundle.MaxName+1), "Me\u202ei", "Меi"} { // the last one has Cyrillic letters
		err := ann.WithMarket(ctx, c.url, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
			_, err := ann.EnterQuoted(ctx, m, by, &terms, c.url, c.offer.Hash, "5.00 EUR", name)
			return err
		})
		if !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// With approval, the owner first reads the name and the words, and answers yes or no.
func TestEntryApproved(t *testing.T) {
	c := newClub(t, serve.ListingRequest{Approve: true})
	ann, bo := c.buyer(), c.buyer()
	yes, no := c.enters(ann, "Ann", true), c.enters(bo, "Bo", true)
	_, words, err := c.member(ann.Dir).Reader.Key()
	ok(t, err)
	for range 2 {
		sales := c.look()
		if len(sales) != 2 || !sales[0].Waits || !sales[1].Waits || !slices.ContainsFunc(sales, func(s serve.Sale) bool { return s.Question == "Ann, whose key has the words: "+words }) {
			t.Fatalf("%+v", sales)
		}
	}
	c.are("Mei")
	if v, err := c.Settle(t.Context(), serve.SaleRequest{Order: yes.State.ID.String(), Act: serve.DeliverSale}); err != nil || v.Phase != trade.Delivered {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := c.Settle(t.Context(), serve.SaleRequest{Order: no.State.ID.String(), Act: serve.RefundSale, Reason: "We are full for now."}); err != nil || v.Phase != trade.Refunded {
		t.Errorf("%+v, %v", v, err)
	}
	c.are("Ann", "Mei")
	if c.has(bo) != paidIn || c.phase(bo, no) != trade.Refunded {
		t.Errorf("%d, %s", c.has(bo), no.State.Phase)
	}
}

// When the community ends, so does the listing, and buyers who are waiting get the fee
// back. Nobody can sell entry to another owner's community.
func TestEntryEnds(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	ann, bo := c.buyer(), c.buyer()
	anns := c.enters(ann, "Ann", true)
	c.look()
	v, err := c.rooms.Show(ctx, c.id.String())
	ok(t, err)
	annsRooms := c.member(ann.Dir)
	_, err = annsRooms.Join(ctx, v.Link, "Club")
	ok(t, err)
	if _, err := annsRooms.OwnedCommunity(ctx, "Club"); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("a member sells the entry: %v", err)
	}
	if err := annsRooms.AnnounceFee(ctx, c.id, "1.00 EUR"); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("a member sets the fee: %v", err)
	}
	o := c.enters(bo, "Bo", true)
	c.door.Door = ended{c.rooms} // what the owner's home sees once the community has ended
	c.look()
	if c.phase(bo, o) != trade.Refunded || o.State.Reason != notForSale || c.has(bo) != paidIn {
		t.Errorf("%s, %q", o.State.Phase, o.State.Reason)
	}
	if c.phase(ann, anns) != trade.Refunded || anns.State.Reason != hasEnded || c.has(ann) != paidIn {
		t.Errorf("of who was in when it ended: %s, %q", anns.State.Phase, anns.State.Reason)
	}
	all, err := c.list(ctx)
	if err != nil || len(all) != 1 || all[0].Withdrawn.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
}

// A listing that moves sells entry at the other market, where a buyer who pays is
// admitted.
func TestEntryListingMoves(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	_, other, err := ed25519.GenerateKey(nil)
	ok(t, err)
	_, url, code := served(t, c.now, cloudmarket.Config{DB: database(t), Key: other}, nil)
	moved, err := c.Move(ctx, serve.MarketMove{To: url})
	if err != nil || len(moved) != 1 || moved[0].Why != "" {
		t.Fatalf("%+v, %v", moved, err)
	}
	v, err := c.rooms.Show(ctx, c.id.String())
	if err != nil || v.Fee != "5.00 EUR at "+url {
		t.Errorf("the members read %q, %v", v.Fee, err)
	}
	_, was, err := offeredIn(c.Shop.c.Dir, moved[0].Now)
	ok(t, err)
	c.offer, c.url = was.offer, url
	ann := &Buyer{Dir: t.TempDir(), Now: c.now}
	o := c.enters(ann, "Ann", false)
	ok(t, ann.Pay(ctx, o, code))
	c.look()
	if c.phase(ann, o) != trade.Delivered {
		t.Errorf("%s, %q", o.State.Phase, o.State.Reason)
	}
	c.are("Ann", "Mei")
}

type ended struct{ *community.Communities }

func (ended) OwnedCommunity(context.Context, string) (v serve.CommunityHead, err error) {
	return v, memory.ErrNotFound
}

func (ended) WasExpelled(context.Context, memory.SpaceID, []byte) (bool, error) {
	return false, memory.ErrNotFound
}

func (ended) AnnounceFee(context.Context, memory.SpaceID, string) error { return memory.ErrNotFound }

// An app can't buy entry with the wearer's money: it is the wearer who enters, by name.
func TestAppsCannotBuyEntry(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	if why := bars(&serve.Spender{}, c.offer, paidIn, "EUR"); !strings.Contains(why, "the wearer") {
		t.Errorf("barred: %q", why)
	}
	ann := c.buyer()
	for _, question := range []string{"", "Ann"} {
		err := ann.WithMarket(t.Context(), c.url, func(m *remote.Market, by trade.Party, _ trade.Terms) error {
			_, err := ann.orderOrAsk(t.Context(), m, by, c.url, c.offer, question)
			return err
		})
		if !errors.Is(err, serve.ErrConflict) {
			t.Errorf("%q: %v", question, err)
		}
	}
}

// Whatever happens, in whatever order: in the end everyone who is in has paid, everyone
// who has paid was admitted, and everybody else has all their money.
func TestEntryAtRandom(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 24))
			c := newClub(t, serve.ListingRequest{DeliverDays: 1, AcceptDays: 1})
			ctx := t.Context()
			type who struct {
				b *Buyer
				o []*Bought
			}
			var all []*who
			for range 4 {
				all = append(all, &who{b: c.buyer()})
			}
			look := func() { c.Sales(ctx) } // fails where the door slams, and is retried
			for range 24 {
				w := all[r.IntN(len(all))]
				var o *Bought
				if len(w.o) > 0 {
					o = w.o[r.IntN(len(w.o))]
				}
				c.door.slam = r.IntN(3) == 0
				switch n := r.IntN(9); {
				case n < 3 || o == nil:
					w.o = append(w.o, c.enters(w.b, fmt.Sprint("N", r.IntN(5)), r.IntN(4) > 0))
				case n == 3:
					c.Settle(ctx, serve.SaleRequest{Order: o.State.ID.String(), Act: serve.RefundSale})
				case n == 4 && c.phase(w.b, o) == trade.Delivered:
					ok(t, w.b.Accept(ctx, o))
				case n == 5:
					c.pass(time.Duration(r.IntN(30)) * time.Hour)
					ok(t, c.market.Sweep(ctx))
				case n == 6 && c.phase(w.b, o) == trade.Delivered:
					err := w.b.Dispute(ctx, o, -1, "nobody let me in")
					if err != nil && !errors.Is(err, remote.ErrTrade) { // too late
						t.Fatal(err)
					}
				default:
					look()
				}
			}
			c.door.slam = false
			for range 3 { // until all have ended
				look()
				c.pass(15 * 24 * time.Hour)
				ok(t, c.market.Sweep(ctx))
			}
			c.look()
			c.look()
			v, err := c.rooms.Show(ctx, c.id.String())
			ok(t, err)
			for i, w := range all {
				d, err := c.member(w.b.Dir).Reader.Device()
				ok(t, err)
				in := slices.ContainsFunc(v.Members, func(m serve.CommunityMember) bool { return m.Words == share.Words(d.Key()) })
				paid := int64(0)
				for _, o := range w.o {
					switch p := c.phase(w.b, o); {
					case !p.Ended() && p != trade.Ordered: // which a market forgets
						t.Errorf("an order of %d is %s", i, p)
					case p == trade.Accepted:
						paid += 500
					}
				}
				if in != (paid == 500) || c.has(w.b) != paidIn-paid {
					t.Errorf("buyer %d: in %v, paid %d, has %d", i, in, paid, c.has(w.b))
				}
			}
		})
	}
}
