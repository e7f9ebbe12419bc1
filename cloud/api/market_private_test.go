package api_test

import (
	"testing"

	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// A review is shown with its order's delivery, which the seller signed. Somebody who sends that
// step once more is not given the steps after it, in which the parties wrote to each other.
func TestThreatStepOfAnotherRepeated(t *testing.T) {
	s := withMarket(t)
	ctx := t.Context()
	seller, buyer, arbiter, stranger := s.trader(2), s.trader(3), s.trader(4), s.trader(9)
	items, _ := tradetest.Bundle(t)
	l, st := s.sold(items)
	id := st.ID
	var err error
	for _, a := range []struct {
		act trade.Act
		by  trade.Party
		via *remote.Market
	}{{trade.Deliver, tradetest.Seller, seller}, {trade.Dispute, tradetest.Buyer, buyer}, {trade.Decide, tradetest.Arbiter, arbiter}} {
		b, _ := tradetest.Step(t, st, a.act, a.by, nil)
		for range 2 { // who has lost an answer may ask again
			_, st, err = a.via.Step(ctx, id, b)
			s.ok(err)
		}
	}
	review, _, err := trade.SignReview(trade.Review{Order: id, Last: st.Last, Stars: 2, At: 1}, tradetest.Buyer)
	s.ok(err)
	s.ok(buyer.Review(ctx, review))

	shown, _, err := stranger.Show(ctx, l.ID())
	s.ok(err)
	if len(shown.Proofs) != 1 || len(shown.Proofs[0].Delivery) == 0 {
		t.Fatalf("%d proofs", len(shown.Proofs))
	}
	c, _, err := stranger.Step(ctx, id, shown.Proofs[0].Delivery)
	s.is(err, remote.ErrForbidden)
	if c != nil {
		t.Errorf("a stranger is given %d steps of the order", len(c.Links))
	}
	own, _ := tradetest.Step(t, st, trade.Accept, tradetest.Party(9), nil)
	_, _, err = stranger.Step(ctx, id, own)
	s.is(err, remote.ErrNotFound) // as if there were no such order
}
