package market

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

func funded(t *testing.T, l *trade.Offer, n uint32) *tradetest.Deal {
	t.Helper()
	var nonce [16]byte
	binary.BigEndian.PutUint32(nonce[:], n)
	d := tradetest.NewDeal(t, l, tradetest.Buyer, nonce, "age1recipient", 1_800_000_000)
	d.Step(trade.Fund, tradetest.Market, nil)
	return d
}

// A market signs orders that nobody made: the home keeps none for a version that it did
// not send there, and no more for one than it could really have.
func TestInventedOrdersAreBounded(t *testing.T) {
	h := openShop(t)
	ctx := t.Context()
	const here = "https://here.example"
	l, _ := h.lists(here, "Here", nil, memory.ID{1}, nil)
	there, _ := h.lists("https://there.example", "There", nil, memory.ID{2}, nil)
	all, err := h.list(ctx)
	ok(t, err)
	count := func(o *trade.Offer) int {
		t.Helper()
		kept, err := h.sold(ctx, o.ID())
		ok(t, err)
		return len(kept)
	}
	k := h.keeper(all, here)
	d := funded(t, there, 1)
	ok(t, k.save(ctx, &d.Chain, d.State))
	if n := count(there); n != 0 {
		t.Errorf("%d orders of a version that is at another market", n)
	}
	for i := range uint32(2) {
		d := funded(t, l, i)
		ok(t, k.save(ctx, &d.Chain, d.State))
	}
	full := make([]keptSale, trade.MaxMovedOrders)
	k.kept[l.ID()] = append(full[:0:0], append(k.kept[l.ID()], full[2:]...)...)
	for i := range k.kept[l.ID()] {
		k.kept[l.ID()][i].at = 1_900_000_000
	}
	d = funded(t, l, 3)
	ok(t, k.save(ctx, &d.Chain, d.State))
	if n := count(l); n != 2 {
		t.Errorf("%d orders are kept where there is room for none", n)
	}
	k.kept[l.ID()][1].ended, k.kept[l.ID()][1].at = true, 1 // the one that ended first makes room
	ok(t, k.save(ctx, &d.Chain, d.State))
	if n := count(l); n != 2 || len(k.kept[l.ID()]) != trade.MaxMovedOrders {
		t.Errorf("%d orders are kept, and %d counted", n, len(k.kept[l.ID()]))
	}
}

// counter is a market that shows the orders that a test gives it, and counts the steps that it gets.
type counter struct {
	*httptest.Server
	shows atomic.Pointer[[]*tradetest.Deal] // those that changed last come first
	steps atomic.Int32
}

func (c *counter) show(all ...*tradetest.Deal) { c.shows.Store(&all) }

func newCounter(t *testing.T) *counter {
	c := &counter{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			c.steps.Add(1)
		}
		var all trade.Chains
		skip, _ := strconv.Atoi(r.URL.Query().Get("skip"))
		phase := trade.Phase(r.URL.Query().Get("phase"))
		for _, d := range *c.shows.Load() {
			if phase != "" && d.State.Phase != phase {
				continue
			}
			if skip--; skip < 0 && len(all.Orders) < trade.MaxOrders {
				all.Orders = append(all.Orders, d.Chain)
			}
		}
		w.Write(trade.Encode(all))
	}))
	c.show()
	t.Cleanup(c.Close)
	return c
}

// A market that shows an earlier state of an order does not take the receipt of it from the home.
func TestThreatMarketTakesAReceiptBack(t *testing.T) {
	h, market := openShop(t), newCounter(t)
	seller, _, err := h.party()
	ok(t, err)
	l, _ := h.lists(market.URL, "Here", nil, memory.ID{1}, nil)
	d := funded(t, l, 1)
	d.Step(trade.Deliver, seller, nil)
	d.Step(trade.Accept, tradetest.Buyer, nil)
	for _, steps := range []int{3, 2, 1} {
		market.show(d.Until(steps))
		_, err := h.Sales(t.Context())
		if steps > 1 { // otherwise it delivers, and the market does not answer that
			ok(t, err)
		}
		kept, err := h.sold(t.Context(), l.ID())
		ok(t, err)
		if len(kept) != 1 || len(kept[0].Links) != 3 {
			t.Fatalf("after %d steps were shown, the home keeps %+v", steps, kept)
		}
	}
}

// A market that shows an order of another market gets nothing for it: there, the price may have gone
// back long ago.
func TestThreatOrderOfAnotherMarket(t *testing.T) {
	h, here, there := openShop(t), newCounter(t), newCounter(t)
	h.lists(here.URL, "Here", nil, memory.ID{1}, nil)
	l, _ := h.lists(there.URL, "There", nil, memory.ID{2}, nil)
	d := funded(t, l, 1)
	here.show(d)
	if sales, err := h.Sales(t.Context()); err != nil || len(sales) > 0 || here.steps.Load() > 0 {
		t.Errorf("%d steps for %+v, %v", here.steps.Load(), sales, err)
	}
	if _, err := h.Settle(t.Context(), serve.SaleRequest{Order: d.State.ID.String(), Act: serve.DeliverSale}); !errors.Is(err, memory.ErrNotFound) || here.steps.Load() > 0 {
		t.Errorf("%d steps, %v", here.steps.Load(), err)
	}
}

// A paid order is delivered, however many others have changed since.
func TestPaidOrderBehindManyOthers(t *testing.T) {
	h, market := openShop(t), newCounter(t)
	seller, _, err := h.party()
	ok(t, err)
	l, _ := h.lists(market.URL, "Here", nil, memory.ID{1}, nil)
	var all []*tradetest.Deal
	for n := range uint32(trade.MaxSkip + trade.MaxOrders) {
		d := funded(t, l, n)
		d.Step(trade.Deliver, seller, nil)
		all = append(all, d)
	}
	waits := funded(t, l, 1_000_000)
	market.show(append(all, waits)...)
	sales, _ := h.Sales(t.Context())
	seen := map[trade.Hash]int{}
	for _, s := range sales {
		seen[s.Order]++
	}
	if market.steps.Load() != 1 || seen[waits.State.ID] != 1 || len(seen) != len(sales) {
		t.Errorf("%d steps for %d of %d orders", market.steps.Load(), len(seen), len(sales))
	}
}

// A payout whose answer was lost is the same payout when it is requested again.
func TestPayoutIsIdempotent(t *testing.T) {
	var mu sync.Mutex
	keys := map[trade.Hash]int{}
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/market" {
			w.Write(trade.Encode(trade.Terms{Market: tradetest.Market.Key}))
			return
		}
		if r.URL.Path == "/v1/market/balance" {
			w.Write(trade.Encode([]trade.Balance{{Currency: "EUR", Spend: 700, Earned: 142}, {Currency: "CHF", Spend: 5}}))
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var p trade.Payout
		if err := trade.Decode(b, &p, 4096); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		keys[p.Key]++
		if asked++; asked%2 == 1 {
			w.WriteHeader(http.StatusBadGateway) // booked, but the answer is lost
			return
		}
		w.Write(trade.Encode(trade.Codes{Codes: []string{p.Key.String()}}))
	}))
	defer srv.Close()
	h := openShop(t)
	if v, err := h.payOut(t.Context(), serve.PayoutRequest{Market: srv.URL}); err != nil || v.Voucher != "" || !slices.Equal(v.Earned, []string{"1.42 EUR"}) || asked > 0 {
		t.Errorf("what is there: %+v, %v", v, err)
	}
	out := func() error {
		v, err := h.payOut(t.Context(), serve.PayoutRequest{Market: srv.URL, Amount: "5.00 EUR"})
		if err == nil && (v.Voucher == "" || len(v.Earned) != 1) {
			t.Errorf("%+v", v)
		}
		return err
	}
	for err := out(); err != nil; err = out() {
		if asked > 20 {
			t.Fatal(err)
		}
	}
	if len(keys) != 1 {
		t.Errorf("one sum was taken out as %d payouts", len(keys))
	}
	for err := out(); err != nil; err = out() {
		if asked > 40 {
			t.Fatal(err)
		}
	}
	if len(keys) != 2 {
		t.Errorf("a second sum is %d payouts in all, want 2", len(keys))
	}
}

// A voucher is given out although what is left can't be read, and the answer says so instead of "nothing".
func TestPayoutWithoutTheBalance(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/market":
			w.Write(trade.Encode(trade.Terms{Market: tradetest.Market.Key}))
		case "/v1/market/balance":
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.Write(trade.Encode(trade.Codes{Codes: []string{"code"}}))
		}
	}))
	defer srv.Close()
	h := openShop(t)
	v, err := h.payOut(t.Context(), serve.PayoutRequest{Market: srv.URL, Amount: "5.00 EUR"})
	if err != nil || v.Voucher == "" || v.Earned != nil || v.EarnedError == "" {
		t.Errorf("%+v, %v", v, err)
	}
	if b, err := json.Marshal(v); err != nil || strings.Contains(string(b), `"earned":`) {
		t.Errorf("%s, %v", b, err)
	}
	if v, err := h.payOut(t.Context(), serve.PayoutRequest{Market: srv.URL}); err == nil {
		t.Errorf("only looking: %+v", v)
	}
}

// An answer that is older than what the file holds does not overwrite it, and pins that
// arrive at the same time are all kept.
func TestOlderAnswerIsIgnored(t *testing.T) {
	b := &Buyer{Dir: t.TempDir()}
	d, err := b.keys()
	ok(t, err)
	defer d.Zero()
	items, _ := tradetest.Bundle(t)
	deal := tradetest.NewDeal(t, tradetest.Listing(t, items, nil), trade.Party{Key: trade.KeyOf(d.Key()), Sign: d.Sign}, [16]byte{5}, d.OrderIdentity([16]byte{5}).Recipient().String(), time.Now().Unix())
	before := &Bought{Market: "https://market.example", Chain: deal.Chain, State: deal.State}
	deal.Deliver()
	ok(t, b.save(t.Context(), &Bought{Market: before.Market, Chain: deal.Chain, State: deal.State, Items: items}))
	ok(t, b.save(t.Context(), before))
	if got, err := Read(b.file(deal.State.ID)); err != nil || got.State.Phase != trade.Delivered || len(got.Items) != len(items) || before.State.Phase != trade.Delivered {
		t.Fatalf("the file holds %+v, %v", got, err)
	}

	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := b.pin(t.Context(), string(rune('a'+i))+".example", tradetest.Market.Key); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 8 {
		if err := b.pin(t.Context(), string(rune('a'+i))+".example", tradetest.Buyer.Key); err == nil {
			t.Errorf("pin %d was lost", i)
		}
	}

	// When one order's market does not answer, no other order is held up.
	slow, held, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { done <- b.moving(t.Context(), trade.Hash{1}, func() error { close(held); <-slow; return nil }) }()
	<-held
	ok(t, b.moving(t.Context(), trade.Hash{2}, func() error { return nil }))
	close(slow)
	ok(t, <-done)
}
