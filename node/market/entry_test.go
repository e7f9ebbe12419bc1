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
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// club is a home that owns a community at a relay, and sells the entry at its market.
type club struct {
	*oracle
	rooms *community.Communities
	id    memory.SpaceID
	door  *slamming
}

// slamming is a door that can fail after somebody was let in, as a home that stops there.
type slamming struct {
	Door
	slam bool
	shut bool // it fails before, when the payment is noted
}

func (d *slamming) LetIn(ctx context.Context, id memory.SpaceID, name string, q envelope.Request, again bool, note func() error) error {
	if d.shut {
		return errors.Join(note(), errors.New("the relay is off"))
	}
	err := d.Door.LetIn(ctx, id, name, q, again, note)
	if err == nil && d.slam {
		return errors.New("the power is gone")
	}
	return err
}

// newClub opens one. The clock goes on by a second whenever a community asks, so that what is
// said later has a later time.
func newClub(t *testing.T, r serve.ListingRequest) *club {
	t.Helper()
	c := &club{oracle: &oracle{shop: openShop(t), T: t}}
	c.set(time.Now().Truncate(time.Second))
	c.market, c.url, _ = aMarket(t, c.now)
	c.Shop.c.Now, c.Shop.c.Relay = c.now, c.url
	c.rooms = c.member(t.TempDir())
	key := seal.NewKey()
	v, err := c.rooms.Found(t.Context(), community.Founder{Root: share.Root(key), Recovery: seal.NewIdentity().Recipient(), Relay: c.url}, serve.NewCommunity{Name: "Gardeners", As: "Mei"})
	ok(t, err)
	c.id, c.door = v.ID, &slamming{Door: c.rooms}
	c.Shop.c.Door = c.door
	c.lists(r)
	return c
}

func (c *club) member(dir string) *community.Communities {
	return &community.Communities{Reader: &share.Reader{Dir: dir, Reserve: 1, Now: func() time.Time { c.pass(time.Second); return c.now() }}}
}

// lists sells the entry, and keeps the newest version as the buyers find it.
func (c *club) lists(r serve.ListingRequest) serve.Listing {
	c.Helper()
	r.Entry, r.Title, r.Categories, r.Languages = "Gardeners", "Gardeners of Lane 128", []string{"garden"}, []string{"en"}
	if r.Price == "" {
		r.Price = "5.00 EUR"
	}
	l, err := c.Publish(c.Context(), r)
	ok(c.T, err)
	_, was, err := offeredIn(c.Shop.c.Dir, l.Version)
	ok(c.T, err)
	c.offer = was.offer
	return l
}

// enters orders the entry, and pays unless told otherwise.
func (c *club) enters(b *Buyer, name string, pay bool) (o *Bought) {
	c.Helper()
	ok(c.T, b.At(c.Context(), c.url, func(m *remote.Market, by trade.Party, terms trade.Terms) (err error) {
		o, err = b.EnterQuoted(c.Context(), m, by, &terms, c.url, c.offer.Hash, trade.Price(c.offer.Price, c.offer.Currency), name)
		return err
	}))
	if pay {
		ok(c.T, b.Pay(c.Context(), o, ""))
	}
	return o
}

// phase looks at an order anew.
func (c *club) phase(b *Buyer, o *Bought) trade.Phase {
	c.Helper()
	ok(c.T, b.Refresh(c.Context(), o))
	return o.State.Phase
}

// has is what a buyer may spend.
func (c *club) has(b *Buyer) (spend int64) {
	c.Helper()
	ok(c.T, b.At(c.Context(), c.url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
		all, err := m.Balance(c.Context())
		for _, x := range all {
			spend += x.Spend
		}
		return err
	}))
	return spend
}

// earned is what the owner has been paid.
func (c *club) earned() (minor int64) {
	c.Helper()
	ok(c.T, c.at(c.url, func(m *remote.Market, _ trade.Party) error {
		all, err := m.Balance(c.Context())
		for _, x := range all {
			minor += x.Earned
		}
		return err
	}))
	return minor
}

// members are the names in the community, as its owner sees them.
func (c *club) members() (names []string) {
	c.Helper()
	v, err := c.rooms.Show(c.Context(), c.id.String())
	ok(c.T, err)
	for _, m := range v.Members {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

func (c *club) are(names ...string) {
	c.Helper()
	slices.Sort(names)
	if got := c.members(); !slices.Equal(got, names) {
		c.Errorf("members %v, want %v", got, names)
	}
}

const paidIn = 1_000_000 // minor units that a buyer of these tests begins with

// Who pays is let in, and then the owner is paid. Before, the link is nobody's, and the
// key opens nothing.
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

// Nobody is charged who can't be let in, and who is in by hand stays there.
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
	for _, name := range []string{"", strings.Repeat("n", bundle.MaxName+1), "Me\u202ei", "Меi"} { // the last one with Cyrillic letters
		err := ann.At(ctx, c.url, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
			_, err := ann.EnterQuoted(ctx, m, by, &terms, c.url, c.offer.Hash, "5.00 EUR", name)
			return err
		})
		if !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// With approval the owner reads name and words first, and says yes or no.
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

// A home that stops after somebody was let in goes on with the same order. If the time to
// deliver is over by then, the fee goes back, and they are put out.
func TestEntryCutOff(t *testing.T) {
	c := newClub(t, serve.ListingRequest{DeliverDays: 1})
	ann, bo := c.buyer(), c.buyer()
	c.door.slam = true
	o := c.enters(ann, "Ann", true)
	for range 2 {
		if _, err := c.Sales(t.Context()); err == nil {
			t.Fatal("it did not fail")
		}
	}
	c.are("Ann", "Mei")
	c.door.slam = false
	c.look()
	if c.phase(ann, o) != trade.Delivered {
		t.Errorf("%s, %q", o.State.Phase, o.State.Reason)
	}

	c.door.slam = true
	o = c.enters(bo, "Bo", true)
	if _, err := c.Sales(t.Context()); err == nil {
		t.Fatal("it did not fail")
	}
	c.are("Ann", "Bo", "Mei")
	c.pass(25 * time.Hour)
	ok(t, c.market.Sweep(t.Context()))
	c.look()
	c.are("Ann", "Mei")
	if c.phase(bo, o) != trade.Refunded || c.has(bo) != paidIn {
		t.Errorf("%s, and %d left", o.State.Phase, c.has(bo))
	}
	if in, err := c.admitted(t.Context(), o.State.ID); in != nil || err != nil {
		t.Errorf("noted still: %+v, %v", in, err)
	}

	// Who comes minutes before the time is over is not let in, as the answer could be late;
	// nor is who was noted in time, and of whom the relay heard nothing.
	c.door.slam = false
	for _, noted := range []bool{false, true} {
		late := c.buyer()
		o = c.enters(late, "Late", true)
		if c.door.shut = noted; noted {
			if _, err := c.Sales(t.Context()); err == nil {
				t.Fatal("it did not fail")
			}
			c.door.shut = false
		}
		c.set(time.Unix(o.State.Deadline, 0).Add(-time.Minute))
		c.look()
		c.are("Ann", "Mei")
		c.pass(2 * time.Minute)
		ok(t, c.market.Sweep(t.Context()))
		c.look()
		if c.phase(late, o) != trade.Refunded || c.has(late) != paidIn {
			t.Errorf("noted: %v: %s, and %d left", noted, o.State.Phase, c.has(late))
		}
		if in, err := c.admitted(t.Context(), o.State.ID); in != nil || err != nil {
			t.Errorf("noted still: %+v, %v", in, err)
		}
	}
}

// An owner who takes back has no fee: who is put out before it is paid has it back, and
// whose fee goes back is put out. Who leaves by themselves has paid.
func TestEntryTakenBack(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	ann, bo, tom := c.buyer(), c.buyer(), c.buyer()
	d, err := c.member(tom.Dir).Reader.Device()
	ok(t, err)
	shield := envelope.MemberOf(d.Key(), c.id).String() // under Tom's id, so that to put out Tom means two
	anns, bos, toms := c.enters(ann, "Ann", true), c.enters(bo, shield, true), c.enters(tom, "Tom", true)
	c.look()
	c.are(shield, "Ann", "Mei", "Tom")
	ok(t, bo.Refresh(ctx, bos))
	items, err := bo.Open(bos)
	ok(t, err)
	bosRooms := c.member(bo.Dir)
	_, err = bosRooms.Join(ctx, items[0].Text, "Club")
	ok(t, err)

	_, err = c.rooms.Remove(ctx, c.id.String(), serve.CommunityRemoval{What: "Ann", Reason: "I have her money."}, nil)
	ok(t, err)
	_, err = c.Settle(ctx, serve.SaleRequest{Order: toms.State.ID.String(), Act: serve.RefundSale})
	ok(t, err)
	c.look()
	c.are(shield, "Mei")
	ok(t, bosRooms.Leave(ctx, c.id.String(), nil))
	ok(t, c.rooms.TendOne(ctx, c.id, nil, nil)) // the owner's home takes him out of the log
	for range 2 {
		c.look()
	}
	c.are("Mei")
	if c.phase(ann, anns) != trade.Refunded || anns.State.Reason != wasPutOut || c.has(ann) != paidIn {
		t.Errorf("ann: %s, %q", anns.State.Phase, anns.State.Reason)
	}
	if c.phase(bo, bos) != trade.Delivered {
		t.Errorf("bo: %s, %q", bos.State.Phase, bos.State.Reason)
	}
	if c.phase(tom, toms) != trade.Refunded || c.has(tom) != paidIn {
		t.Errorf("tom: %s", toms.State.Phase)
	}
	v, err := c.rooms.Show(ctx, c.id.String())
	ok(t, err)
	if !slices.ContainsFunc(v.Log, func(d serve.CommunityDeed) bool {
		return d.What == "Tom" && d.Did == "put out" && d.Why == "The fee for the entry went back."
	}) {
		t.Errorf("the log does not say why tom was put out: %+v", v.Log)
	}
}

// What Ann sealed lets in nobody else, an order at another price is none, and a new price
// is that of new orders alone.
func TestEntryReplayed(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	ann, eve := c.buyer(), c.buyer()
	anns := c.enters(ann, "Ann", false)

	var eves *Bought
	ok(t, eve.At(ctx, c.url, func(m *remote.Market, by trade.Party, _ trade.Terms) (err error) {
		o := trade.Order{Created: c.now().Unix(), Nonce: anns.State.Order.Nonce, Question: anns.State.Order.Question}
		eves, err = eve.place(ctx, m, by, c.url, c.offer, o)
		return err
	}))
	ok(t, eve.Pay(ctx, eves, ""))
	l := c.lists(serve.ListingRequest{Replaces: c.offer.ID().String(), Price: "8.00 EUR"})
	if l.Number != 2 || l.Entry != c.id {
		t.Fatalf("%+v", l)
	}
	ok(t, ann.Pay(ctx, anns, ""))
	c.look()
	if c.phase(eve, eves) != trade.Refunded || eves.State.Reason != unreadable || c.has(eve) != paidIn {
		t.Errorf("%s, %q", eves.State.Phase, eves.State.Reason)
	}
	if c.phase(ann, anns) != trade.Delivered || c.has(ann) != paidIn-500 {
		t.Errorf("%s, and %d left", anns.State.Phase, c.has(ann))
	}
	c.are("Ann", "Mei")
	before := c.has(ann)
	ok(t, ann.Pay(ctx, anns, "")) // again
	if c.has(ann) != before {
		t.Errorf("charged twice: %d after %d", c.has(ann), before)
	}
	if _, err := c.Publish(ctx, serve.ListingRequest{Entry: "Gardeners", Title: "Cheaper", Categories: []string{"garden"}, Languages: []string{"en"}, Price: "1.00 EUR"}); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("two listings of one entry: %v", err)
	}
	if v, err := c.rooms.Show(ctx, c.id.String()); err != nil || !strings.HasPrefix(v.Fee, "8.00 EUR") {
		t.Errorf("the members read %q, %v", v.Fee, err)
	}
}

// When the community ends, so does the listing, and who waits has the fee back. Another's
// community sells nobody an entry.
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
	if _, err := annsRooms.Entrance(ctx, "Club"); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("a member sells the entry: %v", err)
	}
	if err := annsRooms.SayFee(ctx, c.id, "1.00 EUR"); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("a member sets the fee: %v", err)
	}
	o := c.enters(bo, "Bo", true)
	c.door.Door = ended{c.rooms} // what the owner's home finds once the community has ended
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

// A listing that moves sells the entry at the other market, where who pays is let in.
func TestEntryMoves(t *testing.T) {
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

func (ended) Entrance(context.Context, string) (v serve.CommunityHead, err error) {
	return v, memory.ErrNotFound
}

func (ended) PutOutAfter(context.Context, memory.SpaceID, []byte) (bool, error) {
	return false, memory.ErrNotFound
}

func (ended) SayFee(context.Context, memory.SpaceID, string) error { return memory.ErrNotFound }

// An app buys no entry with the wearer's money: the wearer enters, by name.
func TestEntryIsNoGoods(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	if why := bars(&serve.Spender{}, c.offer, paidIn, "EUR"); !strings.Contains(why, "the wearer") {
		t.Errorf("barred: %q", why)
	}
	ann := c.buyer()
	for _, question := range []string{"", "Ann"} {
		err := ann.At(t.Context(), c.url, func(m *remote.Market, by trade.Party, _ trade.Terms) error {
			_, err := ann.orderOrAsk(t.Context(), m, by, c.url, c.offer, question)
			return err
		})
		if !errors.Is(err, serve.ErrConflict) {
			t.Errorf("%q: %v", question, err)
		}
	}
}

// Whatever happens in whatever order: at the end who is in has paid, who has paid was let
// in, and everybody else has all their money.
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
			look := func() { c.Sales(ctx) } // fails where the door slams, and is tried again
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
					case !p.Ended():
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
