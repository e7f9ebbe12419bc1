package market_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

const day = 24 * 60 * 60

// issue is one period of a subscription, as the seller has it.
type issue struct {
	offer *trade.Offer
	key   *seal.Key
	items [][]byte
}

// newIssue seals a period's items under a key of their own.
func newIssue(tb testing.TB, number int, was *trade.Offer, price uint64, salt int64) issue {
	tb.Helper()
	key := seal.NewKey()
	items, err := bundle.Seal(key, []memory.Candidate{{Type: memory.Semantic, Text: fmt.Sprintf("What grew in period %d.", number), Confidence: 1, Owner: memory.Owner{User: "shared"}}})
	if err != nil {
		tb.Fatal(err)
	}
	l := tradetest.Listing(tb, items, func(l *trade.Listing) {
		l.Number, l.Price, l.Period, l.Commitment, l.Created = uint32(number), price, 30*day, bundle.Commitment(key), salt
		if was != nil {
			l.First, l.Prev = was.ID(), was.Hash
		}
	})
	return issue{l, key, items}
}

// subscriber is a buyer who follows [trade.Subscription.Next].
type subscriber struct {
	trade.Party
	plan   trade.Subscription
	orders map[trade.Hash]*seal.Identity
	last   map[trade.Hash]*trade.State // as last seen
}

// run is a random history of one subscription.
type run struct {
	*house
	t      *rapid.T
	issues []issue
	subs   []*subscriber
}

func (r *run) check(err error) {
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) states(b *subscriber) (out []*trade.State) {
	for id := range b.orders {
		c, err := r.Get(r.Context(), id, b.Key)
		if errors.Is(err, market.ErrNotFound) && !b.last[id].Phase.Paid() && r.now.Unix() >= b.last[id].At+trade.KeepUnpaid { // as a node does
			out = append(out, b.last[id])
			continue
		}
		r.check(err)
		s, err := c.Replay()
		r.check(err)
		b.last[id] = s
		out = append(out, s)
	}
	return out
}

// look is a renewal, which may stop after the order, and is repeated.
func (r *run) look(b *subscriber, stop bool) {
	newest := r.issues[len(r.issues)-1].offer
	what, _ := b.plan.Next(newest, r.states(b), r.now.Unix())
	switch what {
	case trade.Buy:
		id := seal.NewIdentity()
		signed, order, err := trade.SignOrder(trade.Order{Market: newest.Market, Listing: newest.Hash, Price: newest.Price, Currency: newest.Currency,
			Recipient: id.Recipient().String(), Created: newest.Created}, b.Party)
		r.check(err)
		c, err := r.Order(r.Context(), signed, b.Key)
		r.check(err)
		b.last[order], err = c.Replay()
		r.check(err)
		b.orders[order] = id
		if !stop {
			r.look(b, true)
		}
	case trade.Settle:
		for _, s := range r.states(b) {
			if s.Offer.Hash == newest.Hash {
				for range 2 { // the second time pays nothing
					_, err := r.Pay(r.Context(), s.ID, trade.Payment{}, b.Key)
					r.check(err)
				}
			}
		}
	}
}

// publish tries to issue the next period; the market decides when that is allowed.
func (r *run) publish(price uint64, since int64) (took bool) {
	was := r.issues[len(r.issues)-1]
	next := newIssue(r.house, len(r.issues)+1, was.offer, price, was.offer.Created)
	_, err := r.Publish(r.Context(), &trade.Publication{Listing: next.offer.Signed, Items: next.items}, tradetest.Seller.Key)
	if early := r.now.Unix()-since < 30*day; early != errors.Is(err, market.ErrEarly) || !early && err != nil {
		r.t.Fatalf("issued after %d s: %v", r.now.Unix()-since, err)
	}
	if err == nil {
		r.issues = append(r.issues, next)
	}
	return err == nil
}

// random makes a step of a random order, if its state allows it.
func (r *run) random(act trade.Act) {
	b := r.subs[rapid.IntRange(0, len(r.subs)-1).Draw(r.t, "subscriber")]
	all := r.states(b)
	if len(all) == 0 {
		return
	}
	s := all[0]
	by, change := tradetest.Seller, func(st *trade.Step) {}
	switch act {
	case trade.Deliver:
		of := r.issue(s)
		wrapped, err := bundle.Wrap(of.key, s.Order.Recipient, s.ID)
		r.check(err)
		change = func(st *trade.Step) { st.Wrapped = wrapped }
	case trade.Accept, trade.Dispute:
		by = b.Party
	case trade.Decide:
		by, change = tradetest.Arbiter, func(st *trade.Step) { st.Refund = s.Order.Price / 2 }
	}
	signed, taken := tradetest.Step(r.house, s, act, by, change)
	_, want := s.Apply(&taken, r.now.Unix())
	if _, err := r.Step(r.Context(), s.ID, signed, by.Key); (err == nil) != (want == nil) {
		r.t.Fatalf("%s of an order that is %s: %v, want %v", act, s.Phase, err, want)
	}
}

func (r *run) issue(s *trade.State) issue {
	for _, i := range r.issues {
		if i.offer.Hash == s.Offer.Hash {
			return i
		}
	}
	r.t.Fatal("an order of no issue")
	return issue{}
}

// holds checks the invariants.
func (r *run) holds() {
	for _, b := range r.subs {
		paid := uint32(0)
		of := map[trade.Hash]bool{}
		for _, s := range r.states(b) {
			held := s.Held + s.Paid + s.Back
			switch {
			case len(s.Wrapped) > 0 && held != s.Order.Price:
				r.t.Fatalf("a key without its price: %s, %d", s.Phase, held)
			case s.Paid > 0 && len(s.Wrapped) == 0:
				r.t.Fatalf("%s: the seller was paid, and delivered nothing", s.Phase)
			case s.Phase.Ended() && s.Held > 0:
				r.t.Fatalf("the order has ended (%s), but the market still holds %d", s.Phase, s.Held)
			case of[s.Offer.Hash]:
				r.t.Fatal("one period was ordered twice")
			case s.Order.Price > b.plan.Most:
				r.t.Fatalf("%d was paid, over %d", s.Order.Price, b.plan.Most)
			}
			of[s.Offer.Hash] = true
			if held > 0 && s.Back < s.Order.Price {
				paid++
			}
		}
		if paid > b.plan.Periods {
			r.t.Fatalf("%d periods are paid, over %d", paid, b.plan.Periods)
		}
	}
	r.check(r.db.Read(r.Context(), func(tx *sql.Tx) error { return ledger.New(r.db.Dialect, nil).Check(r.Context(), tx) }))
}

// opens checks that a buyer with a period's key has its items, and nobody has another's.
func (r *run) opens(b *subscriber) {
	for _, s := range r.states(b) {
		if len(s.Wrapped) == 0 {
			if _, err := r.Bundle(r.Context(), s.ID, b.Key); s.Phase == trade.Expired && !errors.Is(err, trade.ErrPhase) && !errors.Is(err, market.ErrNotFound) {
				r.t.Fatalf("the items of a period that was never paid: %v", err)
			}
			continue
		}
		k, err := bundle.Unwrap(b.orders[s.ID], s)
		r.check(err)
		for _, i := range r.issues {
			_, err := bundle.Open(&i.offer.Listing, k, i.items)
			if own := i.offer.Hash == s.Offer.Hash; own != (err == nil) {
				r.t.Fatalf("the key of period %d on period %d: %v", s.Offer.Number, i.offer.Number, err)
			}
		}
	}
}

// Random histories of a subscription against its rules: periods come and are paid, lapse, are
// disputed, refunded and ended. Nobody has a key that was not paid for, no seller is paid without a
// delivered key or a refund, and the ledger's sums are zero.
func TestSubscriptionModel(t *testing.T) {
	each(t, func(h *house) {
		salt := int64(0)
		rapid.Check(h.T, func(t *rapid.T) {
			salt++
			r := &run{house: h, t: t}
			first := newIssue(h, 1, nil, 500, salt)
			_, err := h.Publish(h.Context(), &trade.Publication{Listing: first.offer.Signed, Items: first.items}, tradetest.Seller.Key)
			r.check(err)
			r.issues = append(r.issues, first)
			since := h.now.Unix()
			for i := range 2 {
				b := &subscriber{Party: tradetest.Party(byte(40 + i)), orders: map[trade.Hash]*seal.Identity{}, last: map[trade.Hash]*trade.State{}}
				b.plan = trade.Subscription{Listing: first.offer.ID(), Market: first.offer.Market, Seller: first.offer.Seller, Period: 30 * day, Most: 600, Currency: "EUR",
					Periods: rapid.Uint32Range(1, 4).Draw(t, "periods"), Since: h.now.Unix()}
				r.check(h.db.Change(h.Context(), func(tx *sql.Tx) error {
					return ledger.New(h.db.Dialect, nil).Deposit(h.Context(), tx, fmt.Sprint("for ", salt, i), "voucher", ledger.Buyer(b.Key.String()), ledger.Money{Minor: 600 * 4, Currency: "EUR"})
				}))
				r.subs = append(r.subs, b)
			}
			acts := []trade.Act{trade.Deliver, trade.Deliver, trade.Accept, trade.Dispute, trade.Decide, trade.Cancel}
			for range rapid.IntRange(5, 25).Draw(t, "steps") {
				switch rapid.IntRange(0, 5).Draw(t, "what") {
				case 0, 1:
					r.look(r.subs[rapid.IntRange(0, 1).Draw(t, "who")], rapid.Bool().Draw(t, "stop"))
				case 2:
					if r.publish(rapid.Uint64Range(400, 700).Draw(t, "price"), since) {
						since = h.now.Unix()
					}
				case 3:
					h.now = h.now.Add(time.Duration(rapid.IntRange(1, 20*24).Draw(t, "hours")) * time.Hour)
				case 4:
					r.check(h.Sweep(h.Context()))
				case 5:
					r.random(rapid.SampledFrom(acts).Draw(t, "act"))
				}
				r.holds()
			}
			r.subs[0].plan.Ended = h.now.Unix()
			for range 4 { // every deadline passes
				h.now = h.now.Add(31 * 24 * time.Hour)
				r.check(h.Sweep(h.Context()))
			}
			for i, b := range r.subs {
				before := len(b.orders)
				if r.look(b, false); i == 0 && len(b.orders) > before {
					t.Fatal("bought after the buyer ended it")
				}
				h.now = h.now.Add(31 * 24 * time.Hour)
				r.check(h.Sweep(h.Context()))
				for _, s := range r.states(b) {
					if !s.Phase.Ended() && s.Phase != trade.Ordered {
						t.Fatalf("an order is stuck: %s", s.Phase)
					}
				}
				r.opens(b)
			}
			r.holds()
			r.check(h.TakeDown(h.Context(), first.offer.ID(), "The next life."))
		})
	})
}

// A seller can't bill faster than the listing says, change the period, or use one key for two
// periods.
func TestThreatSubscriptionBilledFaster(t *testing.T) {
	each(t, func(h *house) {
		first := newIssue(h, 1, nil, 500, 1)
		_, err := h.Publish(h.Context(), &trade.Publication{Listing: first.offer.Signed, Items: first.items}, tradetest.Seller.Key)
		h.ok(err)
		try := func(i issue) error {
			_, err := h.Publish(h.Context(), &trade.Publication{Listing: i.offer.Signed, Items: i.items}, tradetest.Seller.Key)
			return err
		}
		again := func(change func(*trade.Listing)) issue {
			i := newIssue(h, 2, first.offer, 500, 2)
			l := i.offer.Listing
			change(&l)
			o, err := trade.SignListing(l, tradetest.Seller)
			h.ok(err)
			return issue{o, i.key, i.items}
		}
		h.now = h.now.Add(30*24*time.Hour - time.Second)
		h.is(try(again(func(*trade.Listing) {})), market.ErrEarly)
		h.now = h.now.Add(time.Second)
		h.is(try(again(func(l *trade.Listing) { l.Period = day })), trade.ErrForm)
		h.is(try(again(func(l *trade.Listing) { l.Period = 0 })), trade.ErrForm)
		h.is(try(again(func(l *trade.Listing) { l.Commitment = first.offer.Commitment })), trade.ErrForm)
		h.ok(try(again(func(*trade.Listing) {})))
	})
}
