package market

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cloudmarket "github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// A clock shows the time that a test sets; servers read it in their own goroutines.
type clock struct{ hand atomic.Pointer[time.Time] }

func (c *clock) now() time.Time       { return *c.hand.Load() }
func (c *clock) set(t time.Time)      { c.hand.Store(&t) }
func (c *clock) pass(d time.Duration) { c.set(c.now().Add(d)) }

// oracle is a home that sells answers at a market, with a clock of its own.
type oracle struct {
	*shop
	*testing.T
	market *cloudmarket.Market
	url    string
	clock
	offer *trade.Offer
	asked int
}

// answers opens one that sells answers from some texts.
func answers(t *testing.T, texts []string, each, all int, change func(*listed)) *oracle {
	t.Helper()
	o := &oracle{shop: openShop(t), T: t}
	o.set(time.Now().Truncate(time.Second))
	o.market, o.url, _ = aMarket(t, o.now)
	o.Shop.c.Now, o.Shop.c.Relay = o.now, func() string { return o.url }
	o.publish(texts, each, all, change)
	return o
}

// publish lists answers from texts, as Publish does.
func (o *oracle) publish(texts []string, each, all int, change func(*listed)) {
	o.Helper()
	by, _, err := o.party()
	ok(o.T, err)
	var ms []memory.Candidate
	kept := listed{Listing: serve.Listing{Market: o.url, Title: "Ask a gardener"}}
	k := seal.NewKey()
	for i, text := range texts {
		ms = append(ms, memory.Candidate{Type: memory.Semantic, Text: text, Confidence: 1, Owner: memory.Owner{User: "shared"}})
		kept.Of = append(kept.Of, memory.ID{1, byte(i >> 8), byte(i)})
	}
	items, err := bundle.Seal(k, ms)
	ok(o.T, err)
	kept.Key = k.Bytes()
	l := tradetest.Listing(o.T, items, nil).Listing
	l.Title, l.Commitment, l.Price = "Ask a gardener", bundle.Commitment(k), 20
	ok(o.T, kept.answers(&l, &serve.ListingAnswers{Each: each, All: all}))
	if change != nil {
		change(&kept)
	}
	ok(o.T, o.at(o.url, func(m *remote.Market, _ trade.Party) error {
		o.offer, err = o.Shop.offer(o.Context(), m, by, l, items, &kept, nil)
		if err == nil {
			err = o.publishAt(o.Context(), m, &carried{offer: o.offer, items: items})
		}
		return err
	}))
}

// buyer returns a new one, with money at the market.
func (o *oracle) buyer() *Buyer {
	o.Helper()
	b := &Buyer{Dir: o.TempDir(), Now: o.now}
	o.asked++
	codes, err := o.market.Issue(o.Context(), fmt.Sprint("buyer ", o.asked), 1, ledger.Money{Minor: 1_000_000, Currency: "EUR"}, o.now().Add(time.Hour))
	ok(o.T, err)
	ok(o.T, b.WithMarket(o.Context(), o.url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
		_, err := m.Deposit(o.Context(), codes[0])
		return err
	}))
	return b
}

// asks orders and pays.
func (o *oracle) asks(b *Buyer, question string) (order *Bought) {
	o.Helper()
	ok(o.T, b.WithMarket(o.Context(), o.url, func(m *remote.Market, by trade.Party, _ trade.Terms) (err error) {
		order, err = b.Ask(o.Context(), m, by, o.url, o.offer, question)
		return err
	}))
	ok(o.T, b.Pay(o.Context(), order, ""))
	return order
}

// hears asks, has the home look, and returns what arrived.
func (o *oracle) hears(b *Buyer, question string) (texts []string, places []int) {
	o.Helper()
	order := o.asks(b, question)
	o.look()
	return o.heard(b, order)
}

func (o *oracle) look() (sales []serve.Sale) {
	o.Helper()
	sales, err := o.Sales(o.Context())
	ok(o.T, err)
	return sales
}

func (o *oracle) heard(b *Buyer, order *Bought) (texts []string, places []int) {
	o.Helper()
	ok(o.T, b.Refresh(o.Context(), order))
	if order.State.Phase == trade.Refunded {
		return nil, nil
	}
	r, err := b.Answer(order)
	ok(o.T, err)
	for _, m := range r.Items {
		texts = append(texts, m.Text)
	}
	return texts, r.Places
}

var garden = []string{"Tomatoes want water at the root before nine.", "The greenhouse door sticks when it rains.", "Basil grows well beside peppers.", "Slugs hate copper tape.",
	"番茄要在早上浇水。", "Compost needs a turn each month.", "Roses get pruned in February.", "Garlic goes into the ground in October."}

// A question gets its answer and no more of the bundle; one whose answer is not known costs
// nothing.
func TestQuestionAnswered(t *testing.T) {
	o := answers(t, garden, 50, 100, nil)
	b := o.buyer()
	texts, _ := o.hears(b, "when do tomatoes want water?")
	if len(texts) == 0 || texts[0] != garden[0] || slices.Contains(texts, garden[6]) {
		t.Errorf("answered %q", texts)
	}
	if texts, _ := o.hears(b, "番茄什么时候浇水?"); len(texts) == 0 || texts[0] != garden[4] {
		t.Errorf("answered %q", texts)
	}
	order := o.asks(b, "who won the chess tournament in Reykjavik?")
	o.look()
	if texts, _ := o.heard(b, order); texts != nil || order.State.Reason != noAnswer {
		t.Errorf("answered %q, %q", texts, order.State.Reason)
	}
	ok(t, b.WithMarket(t.Context(), o.url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
		list, err := m.Balance(t.Context())
		if err == nil && list[0].Spend != 1_000_000-2*20 {
			t.Errorf("what is left: %+v", list)
		}
		return err
	}))
	// What was bought can be found by search, and its home reads it without a market.
	given := 0
	spaces, err := b.Spaces()
	ok(t, err)
	for space := range spaces {
		g, err := b.Given(t.Context(), space)
		ok(t, err)
		given += len(g.Memories)
	}
	if given < 2 {
		t.Errorf("%d memories answer", given)
	}
}

// Several buyers ask random questions made of the words of a bundle: what they can put
// together is never more than the listing says.
func TestThreatQuestionsGatherBundle(t *testing.T) {
	var texts, words []string
	for i := range 40 {
		word := fmt.Sprintf("plant%c%c", 'a'+i/26, 'a'+i%26)
		words = append(words, word)
		texts = append(texts, fmt.Sprintf("The %s wants a bed of its own beside the %s.", word, words[i/2]))
	}
	o := answers(t, texts, 10, 25, nil) // 4 for each, 10 for all
	chance := rand.New(rand.NewPCG(1, 2))
	all, answered := map[int]bool{}, 0
	for range 5 {
		b, seen := o.buyer(), map[int]bool{}
		var orders []*Bought
		for range askedADay + 1 {
			var q []string
			for range 1 + chance.IntN(4) {
				q = append(q, words[chance.IntN(len(words))])
			}
			orders = append(orders, o.asks(b, "what does the "+strings.Join(q, " and the ")+" want?"))
		}
		o.look()
		refused := 0
		for _, order := range orders {
			_, places := o.heard(b, order)
			for _, p := range places {
				seen[p], all[p] = true, true
			}
			answered += min(1, len(places))
			if order.State.Reason == tooMany {
				refused++
			}
		}
		if len(seen) > 4 {
			t.Errorf("a buyer was shown %d", len(seen))
		}
		if refused != 1 {
			t.Errorf("%d of %d questions in a day were too many", refused, len(orders))
		}
	}
	if len(all) != 10 || answered < 10 {
		t.Errorf("all were shown %d by %d answers, want 10", len(all), answered)
	}
	o.publish(texts, 10, 25, nil) // listed again beside the first: the memories are the same
	if _, places := o.hears(o.buyer(), "what does the "+words[39]+" want?"); len(places) > 0 && !all[places[0]] {
		t.Errorf("another listing of the same memories shows item %d", places[0])
	}
}

// lossy fails each step that it is told to fail, before or after the market carried it out.
type lossy struct {
	Bundler
	fail bool
}

func (l *lossy) LogSale(ctx context.Context, did, title, to string, n int, why string) error {
	if l.fail {
		return errors.New("the disk is full")
	}
	return l.Bundler.LogSale(ctx, did, title, to, n, why)
}

// A home that stops between counting an answer and sending it sends the same answer later,
// and counts it once.
func TestAnswerInterrupted(t *testing.T) {
	o := answers(t, garden, 50, 100, nil)
	cut := &lossy{Bundler: o.Shop.c.Bundler, fail: true}
	o.Shop.c.Bundler = cut
	b := o.buyer()
	order := o.asks(b, "when do tomatoes want water?")
	for range 3 {
		if _, err := o.Sales(t.Context()); err == nil {
			t.Fatal("Sales succeeded, although it was interrupted")
		}
	}
	before, shown, err := o.shownTo(t.Context(), order.State.Order.Buyer)
	ok(t, err)
	if len(before.Asked) != 1 || len(shown.All) != len(before.Asked[0].Places) {
		t.Errorf("%+v, %+v", before, shown)
	}
	cut.fail = false
	o.look()
	if texts, places := o.heard(b, order); len(texts) == 0 || !slices.Equal(places, before.Asked[0].Places) {
		t.Errorf("answered %v after %+v", places, before)
	}
	after, _, err := o.shownTo(t.Context(), order.State.Order.Buyer)
	ok(t, err)
	if len(after.Asked) != 1 || len(after.Shown) != len(before.Shown) {
		t.Errorf("counted twice: %+v", after)
	}
}

// With approval, the seller reads the question and the answer first. Nothing is counted
// before that.
func TestAnswerApproved(t *testing.T) {
	o := answers(t, garden, 50, 100, func(l *listed) { l.Approve = true })
	b := o.buyer()
	order := o.asks(b, "what do slugs hate?")
	sales := o.look()
	if len(sales) != 1 || !sales[0].Waits || sales[0].Question != "what do slugs hate?" || len(sales[0].Answer) == 0 || sales[0].Answer[0] != garden[3] {
		t.Fatalf("%+v", sales)
	}
	if v, _, err := o.shownTo(t.Context(), order.State.Order.Buyer); err != nil || len(v.Asked) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	v, err := o.Settle(t.Context(), serve.SaleRequest{Order: order.State.ID.String(), Act: serve.DeliverSale})
	if err != nil || v.Phase != trade.Delivered || v.Waits {
		t.Fatalf("%+v, %v", v, err)
	}
	if texts, _ := o.heard(b, order); !slices.Equal(texts, sales[0].Answer) {
		t.Errorf("approved %q, and sent %q", sales[0].Answer, texts)
	}
	ok(t, b.Accept(t.Context(), order))
	ok(t, b.Review(t.Context(), order, 5, "It knew."))
}

// A memory that was forgotten answers nobody any more: the asker gets the price back, and
// its counts are removed.
func TestForgottenMemoryIsNotSold(t *testing.T) {
	o := answers(t, garden, 50, 100, nil)
	b := o.buyer()
	o.hears(b, "when do tomatoes want water?")
	order := o.asks(b, "what do slugs hate?")
	o.gone[memory.ID{1}] = true
	o.look()
	if texts, _ := o.heard(b, order); texts != nil || order.State.Reason != notForSale {
		t.Errorf("answered %q, %q", texts, order.State.Reason)
	}
	v, all, err := o.shownTo(t.Context(), order.State.Order.Buyer)
	gone := func(c copyOf) bool { return c.Of == memory.ID{1} }
	if err != nil || slices.ContainsFunc(append(v.Shown, all.All...), gone) || len(all.All) != 1 {
		t.Errorf("%+v, %+v, %v", v, all, err)
	}
}

// Buyers who ask can't make a home keep more and more: it remembers a limited number of
// buyers.
func TestAskersAreBounded(t *testing.T) {
	o := answers(t, garden, 50, 100, nil)
	st := &trade.State{Offer: o.offer}
	first := trade.Key{1}
	ok(t, o.shop.store.Update(t.Context(), func(tx *store.Tx) error {
		all := toldAll{Askers: []trade.Key{first}}
		for i := range maxAskers - 1 {
			all.Askers = append(all.Askers, trade.Key{2, byte(i >> 8), byte(i)})
		}
		return errors.Join(tx.PutMeta(toldAllMeta, all), tx.PutMeta(toldMeta+first.String(), told{Shown: []copyOf{{Of: memory.ID{1}}}}))
	}))
	st.Order.Buyer, st.ID = trade.Key{3}, trade.Hash{3}
	ok(t, o.noteTold(t.Context(), st, []int{2}, []copyOf{{Of: memory.ID{2}}}))
	gone, all, err := o.shownTo(t.Context(), first)
	if err != nil || len(gone.Shown) > 0 || len(all.Askers) != maxAskers || all.Askers[maxAskers-1] != st.Order.Buyer || len(all.All) != 1 {
		t.Errorf("%+v, %d askers, %v", gone, len(all.Askers), err)
	}
}
