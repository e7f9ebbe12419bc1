package market_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// asks orders and pays for an answer from a listing.
func (h *house) asks(l *trade.Offer, code string) (*trade.State, *seal.Identity) {
	h.Helper()
	id := seal.NewIdentity()
	q, err := bundle.Ask(l, "When do tomatoes want water?", tradetest.Buyer.Key, [16]byte{1})
	h.ok(err)
	signed, hash, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Recipient: id.Recipient().String(),
		Nonce: [16]byte{1}, Created: 1_800_000_000, Question: q}, tradetest.Buyer)
	h.ok(err)
	_, err = h.Order(h.Context(), signed, tradetest.Buyer.Key)
	h.ok(err)
	c, err := h.Pay(h.Context(), hash, trade.Payment{Voucher: code}, tradetest.Buyer.Key)
	h.ok(err)
	s, err := c.Replay()
	h.ok(err)
	return s, id
}

// The market gets no items for a bundle that answers questions, and an order of it gets only its
// answer.
func TestAnswersSold(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.Context()
		items, _ := tradetest.Bundle(h)
		l := tradetest.Listing(h, items, tradetest.Answers(h))
		_, err := h.Publish(ctx, &trade.Publication{Listing: l.Signed, Items: items}, tradetest.Seller.Key)
		h.is(err, trade.ErrForm)
		for range 2 {
			_, err = h.Publish(ctx, &trade.Publication{Listing: l.Signed}, tradetest.Seller.Key)
			h.ok(err)
		}
		signed, _, _ := tradetest.Order(h, l, seal.NewIdentity())
		_, err = h.Order(ctx, signed, tradetest.Buyer.Key)
		h.is(err, trade.ErrForm)

		s, id := h.asks(l, h.voucher("a"))
		_, err = h.Bundle(ctx, s.ID, tradetest.Buyer.Key)
		h.is(err, trade.ErrParty)
		asker := bundle.Asker(tradetest.Key(h))
		q, err := bundle.ReadQuestion(asker, &s.Order)
		h.ok(err)
		wrapped, _, err := bundle.Answer(s, &q, tradetest.Key(h), items, []int{0, 2, 3})
		h.ok(err)
		s = h.step(s, trade.Deliver, tradetest.Seller, func(st *trade.Step) { st.Wrapped = wrapped })
		c, err := h.Get(ctx, s.ID, tradetest.Buyer.Key)
		h.ok(err)
		s, err = c.Replay()
		h.ok(err)
		r, err := bundle.OpenReply(id, s)
		if err != nil || len(r.Items) != 3 {
			h.Fatalf("%+v, %v", r, err)
		}
		h.step(s, trade.Accept, tradetest.Buyer, nil)
		h.has(200, 450)
	})
}

// A seller who does not answer is not paid, and one without an answer refunds the price.
func TestQuestionWithoutAnswer(t *testing.T) {
	each(t, func(h *house) {
		items, _ := tradetest.Bundle(h)
		l := tradetest.Listing(h, items, tradetest.Answers(h))
		_, err := h.Publish(h.Context(), &trade.Publication{Listing: l.Signed}, tradetest.Seller.Key)
		h.ok(err)
		s, _ := h.asks(l, h.voucher("a"))
		h.now = time.Unix(s.Deadline, 0)
		h.ok(h.Sweep(h.Context()))
		c, err := h.Get(h.Context(), s.ID, tradetest.Buyer.Key)
		h.ok(err)
		if n, err := c.Replay(); err != nil || n.Phase != trade.Refunded {
			h.Fatalf("it is %s: %v", n.Phase, err)
		}
		h.has(700, 0)
		s, _ = h.asks(l, "") // paid from the refund
		if s.Phase != trade.Funded {
			h.Fatal(s.Phase)
		}
		s = h.step(s, trade.Cancel, tradetest.Seller, func(st *trade.Step) { st.Reason = "no answer" })
		if s.Phase != trade.Refunded || len(s.Wrapped) > 0 || s.Reviewable() {
			h.Fatalf("%+v", s)
		}
		h.has(700, 0)
	})
}

// The market holds the fee for an entry like any price, and knows only the buyer's key. The owner
// is paid after the link, or the buyer gets a refund.
func TestEntrySale(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.Context()
		items, _ := tradetest.Bundle(h)
		l := tradetest.Listing(h, items[:1], func(l *trade.Listing) {
			tradetest.Answers(h)(l)
			l.Entry, l.Answers.Each, l.Answers.All = true, 1, 1
		})
		_, err := h.Publish(ctx, &trade.Publication{Listing: l.Signed}, tradetest.Seller.Key)
		h.ok(err)
		id := seal.NewIdentity()
		enters := func(nonce byte) *trade.State {
			q, err := bundle.Enter(l, "Ann", id.Recipient().String(), tradetest.Buyer.Key, [16]byte{nonce})
			h.ok(err)
			signed, hash, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Recipient: id.Recipient().String(),
				Nonce: [16]byte{nonce}, Created: 1_800_000_000, Question: q}, tradetest.Buyer)
			h.ok(err)
			for range 2 { // repeating it gives the same order
				_, err = h.Order(ctx, signed, tradetest.Buyer.Key)
				h.ok(err)
			}
			voucher := ""
			if nonce == 1 {
				voucher = h.voucher("a")
			}
			c, err := h.Pay(ctx, hash, trade.Payment{Voucher: voucher}, tradetest.Buyer.Key)
			h.ok(err)
			s, err := c.Replay()
			h.ok(err)
			return s
		}
		s := enters(1)
		h.has(200, 0) // it is held
		h.step(s, trade.Cancel, tradetest.Seller, nil)
		h.has(700, 0)
		s = enters(2)
		q, err := bundle.ReadEntry(bundle.Asker(tradetest.Key(h)), &s.Order)
		h.ok(err)
		wrapped, _, err := bundle.Answer(s, &q, tradetest.Key(h), items[:1], []int{0})
		h.ok(err)
		s = h.step(s, trade.Deliver, tradetest.Seller, func(st *trade.Step) { st.Wrapped = wrapped })
		if r, err := bundle.OpenReply(id, s); err != nil || len(r.Items) != 1 || r.Question != "Ann" {
			h.Fatalf("%+v, %v", r, err)
		}
		h.has(200, 0)
		h.step(s, trade.Accept, tradetest.Buyer, nil)
		h.has(200, 450)
	})
}
