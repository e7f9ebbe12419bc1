package market_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	"github.com/locket-dev/locket/sync/translog"
)

var databases tabletest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

func TestSale(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.Context()
		l, items := h.list(nil)
		s, id := h.funded(l, h.voucher("a"))
		wrapped, err := bundle.Wrap(tradetest.Key(h), s.Order.Recipient, s.ID)
		h.ok(err)
		s = h.step(s, trade.Deliver, tradetest.Seller, func(st *trade.Step) { st.Wrapped = wrapped })
		_, err = h.Bundle(ctx, s.ID, tradetest.Party(9).Key)
		h.is(err, market.ErrNotFound)
		b, err := h.Bundle(ctx, s.ID, tradetest.Buyer.Key)
		h.ok(err)
		var got [][]byte
		h.ok(trade.Decode(b, &got, trade.MaxAnswer))
		k, err := bundle.Unwrap(id, s)
		h.ok(err)
		if ms, err := bundle.Open(&l.Listing, k, got); err != nil || len(ms) != len(items) {
			h.Fatal(err)
		}
		early, _, err := trade.SignReview(trade.Review{Order: s.ID, Last: s.Last, Stars: 5}, tradetest.Buyer)
		h.ok(err)
		h.is(h.Review(ctx, early), trade.ErrPhase)
		s = h.step(s, trade.Accept, tradetest.Buyer, nil)
		h.has(200, 450) // a tenth goes to the market
		for _, by := range []trade.Party{tradetest.Seller, tradetest.Party(9)} {
			own, _, err := trade.SignReview(trade.Review{Order: s.ID, Last: s.Last, Stars: 5}, by)
			h.ok(err)
			h.is(h.Review(ctx, own), trade.ErrParty)
		}
		for range 2 {
			r, _, err := trade.SignReview(trade.Review{Order: s.ID, Last: s.Last, Stars: 4, Text: "As listed."}, tradetest.Buyer)
			h.ok(err)
			h.ok(h.Review(ctx, r))
		}
		other, _, err := trade.SignReview(trade.Review{Order: s.ID, Last: s.Last, Stars: 1, Text: "Not as listed."}, tradetest.Buyer)
		h.ok(err)
		h.is(h.Review(ctx, other), market.ErrReviewed)
		v, err := h.Show(ctx, l.Hash)
		h.ok(err)
		if v.Hit.Sold != 1 || v.Hit.Reviews != 1 || v.Hit.Stars != 4 || len(v.Reviews) != 1 {
			h.Fatalf("%+v", v.Hit)
		}
		h.wrote(translog.Listed, translog.Receipt, translog.Reviewed, translog.Reviewed)
		p := &trade.Payout{Key: trade.Hash{1}, Minor: 450, Currency: "EUR"}
		code, err := h.Payout(ctx, p, tradetest.Seller.Key)
		h.ok(err)
		again, err := h.Payout(ctx, p, tradetest.Seller.Key)
		if err != nil || again != code {
			h.Fatalf("a payout again: %v", err)
		}
		p.Key[0] = 2
		_, err = h.Payout(ctx, p, tradetest.Seller.Key)
		h.is(err, market.ErrFunds)
	})
}

// Each phase ends by itself, and the held money goes where the state says.
func TestExpiredAtEachStep(t *testing.T) {
	for name, c := range map[string]struct {
		to            trade.Phase
		end           trade.Phase
		spend, earned int64
	}{
		"ordered":   {trade.Ordered, trade.Expired, 0, 0},
		"funded":    {trade.Funded, trade.Refunded, 700, 0},
		"delivered": {trade.Delivered, trade.Accepted, 200, 450},
		"disputed":  {trade.Disputed, trade.Refunded, 700, 0},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(h *house) {
				l, _ := h.list(nil)
				var s *trade.State
				if c.to == trade.Ordered {
					signed, _, _ := tradetest.Order(h, l, seal.NewIdentity())
					ch, err := h.Order(h.Context(), signed, tradetest.Buyer.Key)
					h.ok(err)
					s, err = ch.Replay()
					h.ok(err)
				} else {
					s, _ = h.funded(l, h.voucher("a"))
				}
				if c.to == trade.Delivered || c.to == trade.Disputed {
					s = h.step(s, trade.Deliver, tradetest.Seller, nil)
				}
				if c.to == trade.Disputed {
					s = h.step(s, trade.Dispute, tradetest.Buyer, nil)
				}
				h.now = time.Unix(s.Deadline-1, 0)
				h.ok(h.Sweep(h.Context()))
				ch, err := h.Get(h.Context(), s.ID, tradetest.Buyer.Key)
				h.ok(err)
				if n, err := ch.Replay(); err != nil || n.Phase != c.to {
					h.Fatalf("a second before: %s, %v", n.Phase, err)
				}
				h.now = time.Unix(s.Deadline, 0)
				for range 2 {
					h.ok(h.Sweep(h.Context()))
				}
				ch, err = h.Get(h.Context(), s.ID, tradetest.Buyer.Key)
				h.ok(err)
				n, err := ch.Replay()
				if err != nil || n.Phase != c.end || n.Steps != s.Steps+1 {
					h.Fatalf("it ended %s: %v", n.Phase, err)
				}
				h.has(c.spend, c.earned)
			})
		})
	}
}

func TestDisputedAndDecided(t *testing.T) {
	each(t, func(h *house) {
		l, _ := h.list(nil)
		s, _ := h.funded(l, h.voucher("a"))
		s = h.step(s, trade.Deliver, tradetest.Seller, nil)
		_, err := h.Orders(h.Context(), tradetest.Arbiter.Key, market.AsArbiter, "", 0)
		h.ok(err)
		s = h.step(s, trade.Dispute, tradetest.Buyer, nil)
		seen, err := h.Orders(h.Context(), tradetest.Arbiter.Key, market.AsArbiter, "", 0)
		h.ok(err)
		if len(seen.Orders) != 1 {
			h.Fatalf("the arbiter sees %d", len(seen.Orders))
		}
		b, _ := tradetest.Step(h, s, trade.Decide, tradetest.Market, nil)
		_, err = h.Step(h.Context(), s.ID, b, tradetest.Market.Key)
		h.is(err, market.ErrNotFound)
		s = h.step(s, trade.Decide, tradetest.Arbiter, func(st *trade.Step) { st.Refund, st.Reason = 300, "Half is there." })
		if s.Phase != trade.Settled {
			h.Fatal(s.Phase)
		}
		h.has(500, 180)
	})
}

// A used voucher, the market's own steps, and strangers' steps move nothing.
func TestRefused(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.Context()
		l, items := h.list(nil)
		signed, _, id := tradetest.Order(h, l, seal.NewIdentity())
		_, err := h.Order(ctx, signed, tradetest.Party(9).Key)
		h.is(err, trade.ErrParty)
		c, err := h.Order(ctx, signed, tradetest.Buyer.Key)
		h.ok(err)
		_, err = h.Pay(ctx, id, trade.Payment{}, tradetest.Buyer.Key)
		h.is(err, market.ErrFunds)
		_, err = h.Pay(ctx, id, trade.Payment{}, tradetest.Party(9).Key)
		h.is(err, trade.ErrParty)
		s, err := c.Replay()
		h.ok(err)
		for _, act := range []trade.Act{trade.Fund, trade.Expire} { // nobody can send the market's own steps
			b, _ := tradetest.Step(h, s, act, tradetest.Market, nil)
			_, err = h.Step(ctx, id, b, tradetest.Market.Key)
			h.is(err, trade.ErrParty)
		}
		_, err = h.Bundle(ctx, id, tradetest.Buyer.Key)
		h.is(err, trade.ErrPhase)

		_, err = h.Publish(ctx, &trade.Publication{Listing: l.Signed, Items: items[1:]}, tradetest.Seller.Key)
		h.is(err, trade.ErrRoot)
		_, err = h.Publish(ctx, &trade.Publication{Listing: l.Signed, Items: items}, tradetest.Buyer.Key)
		h.is(err, trade.ErrParty)
		other := tradetest.Listing(h, items, func(l *trade.Listing) { l.Market = tradetest.Party(9).Key })
		_, err = h.Publish(ctx, &trade.Publication{Listing: other.Signed, Items: items}, tradetest.Seller.Key)
		h.is(err, trade.ErrParty)

		dearer, _ := h.list(func(n *trade.Listing) { n.Number, n.First, n.Prev, n.Price = 2, l.Hash, l.Hash, 900 })
		late, _, _ := tradetest.Order(h, l, seal.NewIdentity())
		_, err = h.Order(ctx, late, tradetest.Buyer.Key)
		h.is(err, market.ErrVersion)
		fork := tradetest.Listing(h, items, func(n *trade.Listing) { n.Number, n.First, n.Prev, n.Price = 2, l.Hash, l.Hash, 800 })
		_, err = h.Publish(ctx, &trade.Publication{Listing: fork.Signed, Items: items}, tradetest.Seller.Key)
		h.is(err, market.ErrVersion)
		h.funded(dearer, h.two())
	})
}

func TestWithdrawnAndTakenDown(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.Context()
		l, _ := h.list(nil)
		s, _ := h.funded(l, h.voucher("a"))
		notice := trade.Notice{Listing: l.ID(), Reason: "It is somebody else's.", At: 1}
		for _, by := range []byte{8, 9, 8} {
			b, _, err := trade.SignNotice(trade.Report, notice, tradetest.Party(by))
			h.ok(err)
			h.ok(h.Report(ctx, b))
		}
		all, err := h.Complaints(ctx)
		h.ok(err)
		if len(all) != 2 || all[0].Reason != notice.Reason {
			h.Fatalf("%+v", all)
		}
		b, _, err := trade.SignNotice(trade.Withdrawal, notice, tradetest.Buyer)
		h.ok(err)
		h.is(h.Withdraw(ctx, b), trade.ErrParty)
		b, _, err = trade.SignNotice(trade.Withdrawal, notice, tradetest.Seller)
		h.ok(err)
		h.ok(h.Withdraw(ctx, b))
		h.ok(h.TakeDown(ctx, l.ID(), "It is stolen."))
		h.is(h.Withdraw(ctx, b), market.ErrEnded)
		v, err := h.Show(ctx, l.ID())
		h.ok(err)
		n, by, _, err := trade.ReadNotice(trade.Takedown, v.Notice)
		if err != nil || by != tradetest.Market.Key || n.Reason != "It is stolen." || v.State != trade.Removed {
			h.Fatalf("%+v: %v", n, err)
		}
		signed, _, _ := tradetest.Order(h, l, seal.NewIdentity())
		_, err = h.Order(ctx, signed, tradetest.Buyer.Key)
		h.is(err, market.ErrEnded)
		h.ok(h.Sweep(ctx))
		s = h.step(s, trade.Deliver, tradetest.Seller, nil) // what was ordered continues
		_, err = h.Bundle(ctx, s.ID, tradetest.Buyer.Key)
		h.ok(err)
		h.step(s, trade.Accept, tradetest.Buyer, nil)
		h.now = h.now.Add((market.KeepSold + 1) * time.Second)
		h.ok(h.Sweep(ctx))
		_, err = h.Bundle(ctx, s.ID, tradetest.Buyer.Key)
		h.is(err, market.ErrNotFound)
		h.wrote(translog.Listed, translog.Withdrawn, translog.TakenDown, translog.Receipt)
	})
}

func TestSearch(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.Context()
		garden, items := h.list(nil)
		h.list(func(l *trade.Listing) {
			l.Title, l.Description, l.Categories, l.Languages, l.Price = "东京旅行笔记", "在浅草吃的荞麦面。", []string{"travel", "food"}, []string{"zh-Hans"}, 300
		})
		h.list(func(l *trade.Listing) {
			l.Title, l.Description, l.Categories, l.Price = "Tomatoes and potatoes", "What grew in a GARDEN beside the café.", []string{"garden", "food"}, 900
		})
		for name, c := range map[string]struct {
			q    market.Query
			want int
		}{
			"all":                    {market.Query{}, 3},
			"a word":                 {market.Query{Words: "garden"}, 2},
			"an accent left out":     {market.Query{Words: "cafe"}, 1},
			"one of a plural":        {market.Query{Words: "tomato"}, 1},
			"the beginning":          {market.Query{Words: "tom"}, 1},
			"two words":              {market.Query{Words: "garden cafés"}, 1},
			"Chinese":                {market.Query{Words: "旅行"}, 1},
			"Chinese in a sentence":  {market.Query{Words: "荞麦"}, 1},
			"Chinese, not in a row":  {market.Query{Words: "旅笔"}, 0},
			"full width":             {market.Query{Words: "ｇａｒｄｅｎ"}, 2},
			"a category":             {market.Query{Category: "food"}, 2},
			"a language":             {market.Query{Language: "zh-Hans"}, 1},
			"a price":                {market.Query{Currency: "EUR", Most: 500}, 2},
			"another currency":       {market.Query{Currency: "USD"}, 0},
			"a seller":               {market.Query{Seller: tradetest.Seller.Key}, 3},
			"another seller":         {market.Query{Seller: tradetest.Buyer.Key}, 0},
			"operators are words":    {market.Query{Words: `garden" OR title:x* NEAR(`}, 0},
			"operators of the other": {market.Query{Words: `garden | !tomato & <->`}, 1},
			"a percent sign":         {market.Query{Words: "garden%"}, 2},
		} {
			f, err := h.Search(ctx, c.q)
			if err != nil || int(f.Total) != c.want || len(f.Hits) != c.want {
				h.Errorf("%s: %d, want %d: %v", name, f.Total, c.want, err)
			}
		}
		f, err := h.Search(ctx, market.Query{Words: "garden", Limit: 1})
		h.ok(err)
		if first, err := trade.ReadListing(f.Hits[0].Listing); err != nil || first.Hash != garden.Hash {
			h.Errorf("a title counts for less than a description: %v", err)
		}
		if len(f.Facets) == 0 || f.Facets[0].Count != 2 {
			h.Errorf("facets: %+v", f.Facets)
		}
		for _, q := range []market.Query{{Words: "!!!"}, {Limit: 51}, {Skip: 1001}, {Most: 5}, {Words: string(bytes.Repeat([]byte("a "), 101))}} {
			if _, err := h.Search(ctx, q); !errors.Is(err, trade.ErrForm) {
				h.Errorf("%+v: %v", q, err)
			}
		}
		more := tradetest.Listing(h, items, func(l *trade.Listing) { l.Title = "One more" })
		_, err = h.Publish(ctx, &trade.Publication{Listing: more.Signed, Items: items}, tradetest.Seller.Key)
		h.is(err, market.ErrFull)
	})
}

// A seller can fill one share of the market's room, and new versions of a listing don't add to it.
// The other sellers keep theirs. A version with a bundle that is already here needs no room.
func TestThreatSellerFillsTheMarket(t *testing.T) {
	each(t, func(h *house) {
		sealed := func(n byte) (items [][]byte) {
			for i := range 18 { // 900 KiB
				items = append(items, bytes.Repeat([]byte{n, byte(i)}, 25<<10))
			}
			return items
		}
		next := func(was *trade.Offer, by trade.Party, items [][]byte, price uint64) (*trade.Offer, error) {
			o := tradetest.Listing(h, items, func(l *trade.Listing) {
				if l.Price = price; was != nil {
					l.Number, l.First, l.Prev = was.Number+1, was.ID(), was.Hash
				}
			})
			o, err := trade.SignListing(o.Listing, by)
			h.ok(err)
			_, err = h.Publish(h.Context(), &trade.Publication{Listing: o.Signed, Items: items}, by.Key)
			return o, err
		}
		first, err := next(nil, tradetest.Seller, sealed(1), 500)
		h.ok(err)
		second, err := next(first, tradetest.Seller, sealed(2), 500)
		h.ok(err)
		_, err = next(second, tradetest.Seller, sealed(3), 500)
		h.is(err, market.ErrFull)
		_, err = next(nil, tradetest.Seller, sealed(4), 500)
		h.is(err, market.ErrFull)
		_, err = next(second, tradetest.Seller, sealed(2), 600)
		h.ok(err)
		_, err = next(nil, tradetest.Party(5), sealed(5), 500)
		h.ok(err)
	})
}

// Versions of a listing count, too, even if they have the same bundle, or none as those that sell
// answers: they are never deleted.
func TestThreatSellerFillsTheMarketWithVersions(t *testing.T) {
	each(t, func(h *house) {
		var was *trade.Offer
		var err error
		n := 0
		for ; err == nil && n < 400; n++ {
			items, _ := tradetest.Bundle(h)
			o := tradetest.Listing(h, items, func(l *trade.Listing) {
				l.Description, l.Terms, l.Price = strings.Repeat("words ", 666)+".", strings.Repeat("words ", 333)+".", uint64(500+n)
				if was != nil {
					l.Number, l.First, l.Prev = was.Number+1, was.ID(), was.Hash
				}
			})
			_, err = h.Publish(h.Context(), &trade.Publication{Listing: o.Signed, Items: items}, tradetest.Seller.Key)
			was = o
		}
		h.is(err, market.ErrFull)
	})
}

// Somebody who makes many keys to complain about one listing hides no complaint about another, and
// can't fill the disk.
func TestThreatComplaintsFlooded(t *testing.T) {
	each(t, func(h *house) {
		flooded, _ := h.list(nil)
		other, _ := h.list(func(l *trade.Listing) { l.Title = "Another" })
		report := func(l *trade.Offer, by byte) error {
			h.now = h.now.Add(time.Second)
			b, _, err := trade.SignNotice(trade.Report, trade.Notice{Listing: l.ID(), Reason: "it is stolen", At: h.now.Unix()}, tradetest.Party(by))
			h.ok(err)
			return h.Report(h.Context(), b)
		}
		h.ok(report(other, 10))
		for by := range byte(50) {
			h.ok(report(flooded, 20+by))
		}
		h.is(report(flooded, 100), market.ErrFull)
		all, err := h.Complaints(h.Context())
		h.ok(err)
		if len(all) != 51 || all[0].Listing != flooded.ID() || all[1].Listing != other.ID() {
			h.Errorf("%d complaints: %+v", len(all), all[:2])
		}
	})
}

// Unpaid orders do no harm. However many end at once, an order that holds money ends first.
func TestThreatUnpaidOrdersFlood(t *testing.T) {
	each(t, func(h *house) {
		l, _ := h.list(nil)
		paid, _ := h.funded(l, h.voucher("a"))
		for n := range byte(120) {
			by := tradetest.Party(20 + n/20)
			b, _, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Nonce: [16]byte{n},
				Recipient: seal.NewIdentity().Recipient().String(), Created: 1_800_000_000}, by)
			h.ok(err)
			_, err = h.Order(h.Context(), b, by.Key)
			h.ok(err)
		}
		h.now = time.Unix(paid.Deadline, 0)
		h.ok(h.Sweep(h.Context()))
		c, err := h.Get(h.Context(), paid.ID, tradetest.Buyer.Key)
		h.ok(err)
		if s, err := c.Replay(); err != nil || s.Phase != trade.Refunded {
			h.Errorf("what was paid is %s, %v", s.Phase, err)
		}
	})
}

// Orders that were never paid, which anybody can make for free, are deleted in time, a limited
// number at once. Paid orders stay, and so do those with a payment under way.
func TestThreatUnpaidOrdersKept(t *testing.T) {
	each(t, func(h *house) {
		l, _ := h.list(nil)
		order := func(n, nonce int) *trade.State {
			by := tradetest.Party(byte(20 + n))
			b, _, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Nonce: [16]byte{byte(nonce), byte(nonce >> 8)},
				Recipient: seal.NewIdentity().Recipient().String(), Created: 1_800_000_000}, by)
			h.ok(err)
			c, err := h.Order(h.Context(), b, by.Key)
			h.ok(err)
			s, err := c.Replay()
			h.ok(err)
			return s
		}
		for n := range 1050 { // more than may wait for one buyer's payment
			s := order(0, n)
			b, _ := tradetest.Step(h, s, trade.Cancel, tradetest.Party(20), nil)
			_, err := h.Step(h.Context(), s.ID, b, tradetest.Party(20).Key)
			h.ok(err)
		}
		refunded, _ := h.funded(l, h.voucher("a"))
		h.step(refunded, trade.Cancel, tradetest.Seller, nil)
		h.now = h.now.Add(time.Hour)
		lapsed, unclear := order(1, 0), order(1, 1)
		h.ok(h.db.Change(h.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(h.Context(), `INSERT INTO x402_payments (id, of, buyer, minor, currency, payer, request, valid_before, state, at) VALUES ('a', $1, 'b', 1, 'EUR', 'c', '{}', 1, 'unclear', 1)`, unclear.ID.String())
			return err
		}))
		count := func() (n int) {
			h.Helper()
			h.ok(h.db.Read(h.Context(), func(tx *sql.Tx) error { return tx.QueryRowContext(h.Context(), `SELECT count(*) FROM orders`).Scan(&n) }))
			return n
		}
		h.now = h.now.Add(24 * time.Hour)
		h.ok(h.Sweep(h.Context()))
		h.now = h.now.Add((trade.KeepUnpaid - 1) * time.Second)
		h.ok(h.Sweep(h.Context()))
		if n := count(); n != 53 {
			h.Errorf("%d orders are there, want 53: the last two lapsed a second too late", n)
		}
		h.now = h.now.Add(time.Second)
		h.ok(h.Sweep(h.Context()))
		if n := count(); n != 2 {
			h.Errorf("%d orders are there, want 2", n)
		}
		for _, s := range []*trade.State{refunded, unclear} {
			_, err := h.Get(h.Context(), s.ID, s.Order.Buyer)
			h.ok(err)
		}
		_, err := h.Get(h.Context(), lapsed.ID, lapsed.Order.Buyer)
		h.is(err, market.ErrNotFound)
		h.has(700, 0)
	})
}
