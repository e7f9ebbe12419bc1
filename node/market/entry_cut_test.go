package market

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// A home that stops after it has admitted somebody continues with the same order. If the
// time to deliver is over by then, the fee is refunded and the person is removed.
func TestEntryInterrupted(t *testing.T) {
	c := newClub(t, serve.ListingRequest{DeliverDays: 1})
	ann, bo := c.buyer(), c.buyer()
	c.door.slam = true
	o := c.enters(ann, "Ann", true)
	for range 2 {
		if _, err := c.Sales(t.Context()); err == nil {
			t.Fatal("Sales succeeded, although the door slammed")
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
		t.Fatal("Sales succeeded, although the door slammed")
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

	// A buyer who comes minutes before the time is over is not admitted, because the answer
	// could be late. Nor is one who was noted in time but of whom the relay heard nothing.
	c.door.slam = false
	for _, noted := range []bool{false, true} {
		late := c.buyer()
		o = c.enters(late, "Late", true)
		if c.door.shut = noted; noted {
			if _, err := c.Sales(t.Context()); err == nil {
				t.Fatal("Sales succeeded, although the door was shut")
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

// An owner who takes an entry back gets no fee: a person who is removed before the fee is
// paid gets it back, and a person whose fee is refunded is removed. A person who leaves on
// their own has paid.
func TestEntryRevoked(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	ann, bo, tom := c.buyer(), c.buyer(), c.buyer()
	d, err := c.member(tom.Dir).Reader.Device()
	ok(t, err)
	shield := envelope.MemberOf(d.Key(), c.id).String() // under Tom's id, so that removing Tom means two people
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
	ok(t, c.rooms.MaintainOne(ctx, c.id, nil, nil)) // the owner's home takes him out of the log
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

// What Ann sealed admits nobody else, an order at another price is invalid, and a new price
// applies to new orders only.
func TestEntryReplayed(t *testing.T) {
	c := newClub(t, serve.ListingRequest{})
	ctx := t.Context()
	ann, eve := c.buyer(), c.buyer()
	anns := c.enters(ann, "Ann", false)

	var eves *Bought
	ok(t, eve.WithMarket(ctx, c.url, func(m *remote.Market, by trade.Party, _ trade.Terms) (err error) {
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
