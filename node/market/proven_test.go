package market

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	cloudmarket "github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	"github.com/locket-dev/locket/sync/translog"
)

// liar stands in front of a market and changes what it shows of a listing.
type liar struct {
	lie   func(*trade.Shown)
	fails int // the status to answer with instead; 0: it answers normally
}

func (l *liar) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && l.fails > 0 && strings.HasPrefix(r.URL.Path, "/v1/market/listings/") {
		a.StatusCode = l.fails
	}
	if err != nil || l.lie == nil || !strings.HasPrefix(r.URL.Path, "/v1/market/listings/") || a.StatusCode != http.StatusOK {
		return a, err
	}
	raw, err := io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		return nil, err
	}
	var s trade.Shown
	if err := trade.Decode(raw, &s, trade.MaxAnswer); err != nil {
		return nil, err
	}
	l.lie(&s)
	raw = trade.Encode(s)
	a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	a.Header.Del("Content-Length")
	return a, nil
}

// stall is a market with a log, and people who look at it through a liar.
type stall struct {
	*testing.T
	h    *history
	m    *cloudmarket.Market
	url  string
	liar *liar
	clock
	made int
}

func (s *stall) buyer() *Buyer {
	return &Buyer{Dir: s.TempDir(), HTTP: &http.Client{Transport: s.liar}, Now: s.now}
}

// buys has a buyer order, pay for, fetch and accept a listing, and review it if stars are
// given.
func (s *stall) buys(b *Buyer, l *trade.Offer, stars uint8) (o *Bought) {
	s.Helper()
	s.made++
	codes, err := s.m.Issue(s.Context(), strings.Repeat("x", s.made), 1, ledger.Money{Minor: 500, Currency: "EUR"}, s.now().Add(time.Hour))
	ok(s.T, err)
	ok(s.T, b.WithMarket(s.Context(), s.url, func(m *remote.Market, by trade.Party, _ trade.Terms) (err error) {
		o, err = b.Order(s.Context(), m, by, s.url, l)
		return err
	}))
	ok(s.T, b.Pay(s.Context(), o, codes[0]))
	wrapped, err := bundle.Wrap(tradetest.Key(s), o.State.Order.Recipient, o.State.ID)
	ok(s.T, err)
	step, _ := tradetest.Step(s, o.State, trade.Deliver, tradetest.Seller, func(st *trade.Step) { st.Wrapped = wrapped })
	_, err = s.m.Step(s.Context(), o.State.ID, step, tradetest.Seller.Key)
	ok(s.T, err)
	ok(s.T, b.Refresh(s.Context(), o))
	ok(s.T, b.Accept(s.Context(), o))
	if stars > 0 {
		ok(s.T, b.Review(s.Context(), o, stars, "As it says."))
	}
	_, err = s.h.Publish(s.Context())
	ok(s.T, err)
	return o
}

// sees returns what a buyer is shown of a listing while the market lies.
func (s *stall) sees(b *Buyer, l *trade.Offer, lie func(*trade.Shown)) (v serve.Offer) {
	s.Helper()
	s.liar.lie = lie
	defer func() { s.liar.lie = nil }()
	ok(s.T, b.WithMarket(s.Context(), s.url, func(m *remote.Market, _ trade.Party, terms trade.Terms) (err error) {
		v, _, err = b.Show(s.Context(), m, s.url, &terms, l.ID())
		return err
	}))
	return v
}

// logged returns where an entry is in the current log.
func (s *stall) logged(kind translog.Kind, subject string) (g trade.Logged) {
	s.Helper()
	ok(s.T, s.h.db.Read(s.Context(), func(tx *sql.Tx) error {
		all, _, err := s.h.Prove(s.Context(), tx, []translog.Entry{{Kind: kind, Subject: subject}})
		if err == nil {
			g = trade.Logged{At: all[0].Index, Entry: all[0].Entry}
			for _, h := range all[0].Proof {
				g.Path = append(g.Path, h[:]...)
			}
		}
		return err
	}))
	return g
}

// reads returns what a listing's page has.
func (s *stall) reads(l *trade.Offer) trade.Shown {
	s.Helper()
	v, err := s.m.Show(s.Context(), l.ID())
	ok(s.T, err)
	return v
}

func newStall(t *testing.T) (s *stall, garden, kitchen *trade.Offer) {
	s = &stall{T: t, h: newHistory(t, "market.test"), liar: &liar{}}
	s.set(time.Now())
	s.m, s.url, _ = served(t, s.now, cloudmarket.Config{DB: s.h.db, Log: s.h.Log, LogName: "market.test"}, s.h.Handler())
	items, _ := tradetest.Bundle(t)
	for i, into := range []**trade.Offer{&garden, &kitchen} {
		*into = tradetest.Listing(t, items, func(l *trade.Listing) { l.Title, l.Created = "Notes", s.now().Unix()+int64(i) })
		_, err := s.m.Publish(t.Context(), &trade.Publication{Listing: (*into).Signed, Items: items}, tradetest.Seller.Key)
		ok(t, err)
	}
	_, err := s.h.Publish(t.Context())
	ok(t, err)
	return s, garden, kitchen
}

// A market that invents reviews, repeats them, shows those of another listing, leaves some
// out, or shows what its log lacks is not believed.
func TestThreatReviewsForged(t *testing.T) {
	s, garden, kitchen := newStall(t)
	ann, eve := s.buyer(), s.buyer()
	if v := s.sees(eve, garden, func(v *trade.Shown) { v.Hit.Reviews, v.Hit.Stars = 90, 450 }); v.Reviews != 0 || v.Stars != 0 || v.Check.Error != "" {
		t.Errorf("the market's word of how many there are: %+v", v.Check)
	}
	o := s.buys(ann, garden, 2)
	for range 2 {
		s.buys(s.buyer(), garden, 5)
	}
	s.buys(s.buyer(), kitchen, 4)
	if v := s.sees(eve, garden, nil); v.Check.Proven != 3 || v.Check.Unproven+v.Check.Hidden != 0 || v.Check.Error != "" || v.Stars != 4 || v.Reviews != 3 {
		t.Fatalf("an honest market: %+v", v.Check)
	}

	// The operator's own buyer, whose order no seller delivered, in the operator's own log.
	at := tradetest.Party(33)
	deal := tradetest.NewDeal(t, garden, at, [16]byte{}, o.State.Order.Recipient, s.now().Unix())
	stamped, _ := tradetest.Step(t, deal.State, trade.Deliver, tradetest.Market, nil)
	made, _, err := trade.SignReview(trade.Review{Order: deal.State.ID, Last: trade.Hash{9}, Stars: 5, Text: "Wonderful.", At: 1}, at)
	ok(t, err)
	// A second review by ann, signed by her, of the same order.
	again, _, err := trade.SignReview(trade.Review{Order: o.State.ID, Last: o.State.Last, Stars: 5, Text: "I was paid.", At: 1}, party(t, ann))
	ok(t, err)
	fourth, fifth := translog.ReviewSubject(garden.ID().String(), 4), translog.ReviewSubject(garden.ID().String(), 5)
	s.h.add(t, translog.Receipt, deal.State.ID.String(), []byte("a receipt"))
	s.h.add(t, translog.Reviewed, fourth, made)
	s.h.add(t, translog.Reviewed, fifth, again)
	fake := trade.Proof{Order: deal.Chain.Order, Delivery: stamped, Receipt: s.logged(translog.Receipt, deal.State.ID.String()), Said: s.logged(translog.Reviewed, fourth)}
	second := s.logged(translog.Reviewed, fifth)
	honest, other := s.reads(garden), s.reads(kitchen)
	annsAt := slices.IndexFunc(honest.Reviews, func(b []byte) bool { r, _, _, _ := trade.ReadReview(b); return r.Stars == 2 })
	annsProof := honest.Proofs[annsAt]
	annsProof.Said = second
	// A stranger's review of ann's order.
	posed, _, err := trade.SignReview(trade.Review{Order: o.State.ID, Last: o.State.Last, Stars: 5, Text: "I am ann.", At: 1}, at)
	ok(t, err)
	posing := annsProof
	posing.Said = fake.Said
	add := func(v *trade.Shown, review []byte, p trade.Proof) {
		v.Reviews, v.Proofs = append([][]byte{review}, v.Reviews...), append([]trade.Proof{p}, v.Proofs...)
	}
	drop := func(v *trade.Shown, i int) {
		v.Reviews, v.Proofs = slices.Delete(v.Reviews, i, i+1), slices.Delete(v.Proofs, i, i+1)
	}
	for _, x := range []struct {
		name             string
		lie              func(*trade.Shown)
		why              serve.Unproven // for the first review; empty: it is proven, or left out
		proven, un, hide int
	}{
		{"made up", func(v *trade.Shown) { add(v, made, fake) }, serve.NoReceipt, 3, 1, 0},
		{"made up, with the delivery of another order", func(v *trade.Shown) {
			p := fake
			p.Delivery = v.Proofs[0].Delivery
			add(v, made, p)
		}, serve.NoReceipt, 3, 1, 0},
		{"made up, with another's proof", func(v *trade.Shown) { add(v, made, v.Proofs[0]) }, serve.NoReceipt, 3, 1, 0},
		{"changed", func(v *trade.Shown) {
			v.Reviews[1] = bytes.Replace(v.Reviews[1], []byte("As it says."), []byte("Nothing in."), 1)
		}, "", 2, 1, 1},
		{"shown twice", func(v *trade.Shown) { add(v, v.Reviews[0], v.Proofs[0]) }, "", 3, 1, 0},
		{"two of one order", func(v *trade.Shown) { v.Reviews, v.Proofs = append(v.Reviews, again), append(v.Proofs, annsProof) }, "", 3, 1, 1}, // and the fourth is not shown
		{"in another's name", func(v *trade.Shown) { add(v, posed, posing) }, serve.NoReceipt, 3, 1, 0},
		{"another word of hers in its place", func(v *trade.Shown) { v.Reviews[annsAt] = again }, "", 2, 1, 1},
		{"of another listing", func(v *trade.Shown) {
			add(v, other.Reviews[0], other.Proofs[0])
			v.Ordered = append(v.Ordered, kitchen.Signed)
		}, serve.NoReceipt, 3, 1, 0},
		{"with each other's proofs", func(v *trade.Shown) { v.Proofs[0], v.Proofs[1] = v.Proofs[1], v.Proofs[0] }, serve.NoReceipt, 1, 2, 0},
		{"without proofs", func(v *trade.Shown) { v.Proofs = nil }, serve.NoReceipt, 0, 3, 0},
		{"not in the log", func(v *trade.Shown) { v.Proofs[0].Said = trade.Logged{} }, serve.NotLogged, 2, 1, 0},
		{"with no receipt in the log", func(v *trade.Shown) { v.Proofs[0].Receipt = v.Proofs[1].Receipt }, serve.NotLogged, 2, 1, 0},
		{"at another place of the log", func(v *trade.Shown) { v.Proofs[0].Said.At-- }, serve.NotLogged, 2, 1, 0},
		{"an entry that was changed", func(v *trade.Shown) { v.Proofs[0].Said.Entry[len(v.Proofs[0].Said.Entry)-1] ^= 1 }, serve.NotLogged, 2, 1, 0},
		{"one hidden", func(v *trade.Shown) { drop(v, 1) }, "", 2, 0, 1},
		{"said to be deleted", func(v *trade.Shown) { v.Reviews[1], v.Proofs[1].Said = nil, trade.Logged{} }, "", 2, 1, 1},
		{"said to be deleted a moment ago", func(v *trade.Shown) { v.Reviews[1] = nil }, "", 2, 1, 0}, // until an hour has passed: TestThreatReviewsHidden
	} {
		v := s.sees(eve, garden, x.lie)
		if c := v.Check; c.Error != "" || c.Proven != x.proven || c.Unproven != x.un || c.Hidden != x.hide || len(c.Deleted) != 0 || v.Reviews != x.proven {
			t.Errorf("%s: %+v", x.name, c)
		}
		if first := v.Said[0].Unproven; first != x.why {
			t.Errorf("%s: the first lacks %q", x.name, first)
		}
	}
	if _, err := eve.Verify(t.Context(), s.url, Verification{}); err != nil {
		t.Fatal(err)
	}
	forked := newHistory(t, "market.test")
	for range len(s.places(t)) {
		forked.add(t, translog.Listed, strings.Repeat("z", 1+s.made), []byte{byte(s.made)})
		s.made++
	}
	if v := s.sees(eve, garden, func(v *trade.Shown) { n, err := forked.Checkpoint(t.Context()); ok(t, err); v.Log = n.Note }); !strings.Contains(v.Check.Error, "two histories") || v.Check.Proven > 0 {
		t.Errorf("another history: %+v", v.Check)
	}
	if v := s.sees(eve, garden, func(v *trade.Shown) { v.Log = nil }); v.Check.Error == "" || v.Check.Proven > 0 {
		t.Errorf("no log: %+v", v.Check)
	}
}

// places returns all entries of the log.
func (s *stall) places(t *testing.T) []translog.Entry {
	c, err := s.h.Checkpoint(t.Context())
	ok(t, err)
	return make([]translog.Entry, c.Size)
}

// party returns a buyer's key.
func party(t *testing.T, b *Buyer) trade.Party {
	d, err := b.keys()
	ok(t, err)
	return trade.Party{Key: trade.KeyOf(d.Key()), Sign: d.Sign}
}

// A buyer whose review a market does not show finds out that it is hidden, even if it is the
// newest. What the operator deletes is in the log, with the reason.
func TestThreatReviewsHidden(t *testing.T) {
	s, garden, _ := newStall(t)
	ann, bob := s.buyer(), s.buyer()
	s.buys(ann, garden, 5)
	o := s.buys(bob, garden, 1)
	v, err := bob.Verify(t.Context(), s.url, Verification{})
	if err != nil || v.Orders[0].Review != reviewShown || v.Listings[0].Reviews.Proven != 2 {
		t.Fatalf("an honest market: %+v, %v", v, err)
	}
	s.liar.lie = func(v *trade.Shown) { v.Reviews, v.Proofs = v.Reviews[1:], v.Proofs[1:] }
	if v, err = bob.Verify(t.Context(), s.url, Verification{}); err != nil || !v.Orders[0].Waits || v.Orders[0].Review != "" {
		t.Errorf("hidden a moment ago: %+v, %v", v.Orders, err)
	}
	s.pass(logWithin)
	if v, err = bob.Verify(t.Context(), s.url, Verification{}); !errors.Is(err, ErrHidden) || !v.Orders[0].Hidden {
		t.Errorf("hidden for an hour: %+v, %v", v.Orders, err)
	}
	s.liar.lie = func(v *trade.Shown) { v.Reviews, v.Proofs = v.Reviews[:1], v.Proofs[:1] }
	ofAnother := func(how string) {
		t.Helper()
		if v, err = bob.Verify(t.Context(), s.url, Verification{}); err != nil || v.Listings[0].Reviews.Hidden != 0 || v.Listings[0].Reviews.Unproven != 1 {
			t.Errorf("another's is %s since a moment ago: %+v, %v", how, v, err)
		}
		s.pass(logWithin)
		if v, err = bob.Verify(t.Context(), s.url, Verification{}); !errors.Is(err, ErrHidden) || v.Orders[0].Hidden || v.Listings[0].Reviews.Hidden != 1 || v.Listings[0].Reviews.Unproven != 0 {
			t.Errorf("another's is %s: %+v, %v", how, v, err)
		}
		s.liar.lie = nil
		if v, err = bob.Verify(t.Context(), s.url, Verification{}); err != nil || v.Listings[0].Reviews.Unproven != 0 {
			t.Errorf("another's is not %s any more: %+v, %v", how, v, err)
		}
	}
	ofAnother("hidden")
	s.liar.lie = func(v *trade.Shown) { v.Reviews[1] = nil }
	ofAnother("empty")
	if v, err = bob.Verify(t.Context(), s.url, Verification{}); err != nil || v.Orders[0].Review != reviewShown {
		t.Errorf("shown again: %+v, %v", v.Orders, err)
	}

	ok(t, s.m.TakeDown(t.Context(), o.State.ID, "it names a neighbour"))
	ok(t, s.m.TakeDown(t.Context(), o.State.ID, "it names a neighbour"))
	if seen := s.sees(ann, garden, nil); seen.Check.Proven != 1 || seen.Check.Hidden != 0 || seen.Check.Unproven != 1 || len(seen.Check.Deleted) != 0 {
		t.Errorf("deleted, and not published: %+v", seen.Check)
	}
	if v, err := ann.Verify(t.Context(), s.url, Verification{}); err != nil || v.Listings[0].Reviews.Hidden != 0 {
		t.Errorf("deleted, and not published: %+v, %v", v.Listings, err)
	}
	_, err = s.h.Publish(t.Context())
	ok(t, err)
	if seen := s.sees(ann, garden, nil); seen.Check.Proven != 1 || seen.Check.Hidden != 0 || !slices.Equal(seen.Check.Deleted, []string{"it names a neighbour"}) || seen.Stars != 5 || len(seen.Said) != 1 {
		t.Errorf("deleted: %+v", seen.Check)
	}
	if v, err = bob.Verify(t.Context(), s.url, Verification{}); err != nil || v.Orders[0].Review != reviewDeleted || v.Orders[0].Why != "it names a neighbour" {
		t.Errorf("deleted: %+v, %v", v.Orders, err)
	}
	signed, err := bob.reviewed(o.State.ID)
	ok(t, err)
	if err := s.m.Review(t.Context(), signed); !errors.Is(err, cloudmarket.ErrReviewed) {
		t.Errorf("what was deleted was said again: %v", err)
	}
	if shown := s.reads(garden); shown.Hit.Reviews != 1 || shown.Hit.Stars != 5 {
		t.Errorf("the counts: %+v", shown.Hit)
	}
	s.buys(s.buyer(), garden, 3)
	if seen := s.sees(ann, garden, nil); seen.Check.Proven != 2 || seen.Check.Hidden != 0 || len(seen.Check.Deleted) != 1 {
		t.Errorf("after it: %+v", seen.Check)
	}
}

// Reviews of orders at another market are checked as belonging to that market, in the log of
// this one.
func TestReviewsFromAnotherMarket(t *testing.T) {
	s, _, _ := newStall(t)
	items, _ := tradetest.Bundle(t)
	garden := tradetest.Listing(t, items, func(l *trade.Listing) { l.Title = "Moved here" })
	_, err := s.m.Publish(t.Context(), &trade.Publication{Listing: garden.Signed, Items: items}, tradetest.Seller.Key)
	ok(t, err)
	other := tradetest.Party(21)
	there := tradetest.Listing(t, items, func(l *trade.Listing) { l.Market = other.Key })
	buyer := tradetest.Party(22)
	deal := tradetest.NewDealAt(t, there, other, buyer, [16]byte{}, "recipient", s.now().Unix())
	deal.Step(trade.Fund, other, nil)
	deal.Step(trade.Deliver, tradetest.Seller, nil)
	deal.Step(trade.Accept, buyer, nil)
	review, _, err := trade.SignReview(trade.Review{Order: deal.State.ID, Last: deal.State.Last, Stars: 3, At: 1}, buyer)
	ok(t, err)
	move := func(v trade.Move) []byte {
		v.Market, v.From, v.Listing, v.At = tradetest.Market.Key, other.Key, there.ID(), 1
		b, err := trade.SignMove(v, tradetest.Seller)
		ok(t, err)
		return b
	}
	ok(t, s.m.TakeOver(t.Context(), trade.Moving{Move: move(trade.Move{Offer: garden.ID()}), Listing: there.Signed}, tradetest.Seller.Key))
	ok(t, s.m.TakeOver(t.Context(), trade.Moving{Move: move(trade.Move{Order: deal.State.ID, Last: deal.State.Last}), Order: trade.Encode(deal.Chain), Review: review}, tradetest.Seller.Key))
	_, err = s.h.Publish(t.Context())
	ok(t, err)
	for _, x := range []struct {
		why serve.Unproven
		lie func(*trade.Origin)
	}{
		{"", func(*trade.Origin) {}},
		{serve.NoReceipt, func(o *trade.Origin) { o.Ordered = [][]byte{garden.Signed} }},
		{serve.NoReceipt, func(o *trade.Origin) { o.Proofs = nil }},
		{serve.NotLogged, func(o *trade.Origin) { o.Proofs[0].Said = o.Proofs[0].Receipt }},
		{serve.NotLogged, func(o *trade.Origin) { o.Proofs[0].Receipt = trade.Logged{} }},
	} {
		v := s.sees(s.buyer(), garden, func(v *trade.Shown) { x.lie(&v.Origins[0]) })
		if len(v.Before) != 1 || len(v.Before[0].Said) != 1 || v.Before[0].Said[0].Unproven != x.why {
			t.Errorf("want %q: %+v", x.why, v.Before)
		}
	}
	v := s.sees(s.buyer(), garden, func(v *trade.Shown) {
		o := &v.Origins[0]
		o.Said, o.Proofs = append(o.Said, o.Said[0]), append(o.Proofs, o.Proofs[0])
	})
	if v.Before[0].Said[1].Unproven != serve.SaidTwice {
		t.Errorf("shown twice: %+v", v.Before)
	}
}
