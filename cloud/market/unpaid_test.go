package market_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// A stranger makes orders without paying, and cancels some. However many these are, the seller's
// home finds the paid order on the first page: it reads only so many pages, and would deliver none
// of what it does not see.
func TestThreatUnpaidOrdersHideThePaid(t *testing.T) {
	each(t, func(h *house) {
		l, _ := h.list(nil)
		paid, _ := h.funded(l, h.voucher("a"))
		h.now = h.now.Add(time.Minute)
		for n := range byte(2 * trade.MaxOrders) {
			by := tradetest.Party(20 + n/16)
			b, _, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Nonce: [16]byte{n},
				Recipient: seal.NewIdentity().Recipient().String(), Created: 1_800_000_000}, by)
			h.ok(err)
			c, err := h.Order(h.Context(), b, by.Key)
			h.ok(err)
			if n%2 == 0 {
				continue
			}
			s, err := c.Replay()
			h.ok(err)
			h.step(s, trade.Cancel, by, nil)
		}
		page, err := h.Orders(h.Context(), tradetest.Seller.Key, "seller", "", 0)
		h.ok(err)
		if s, err := page.Orders[0].Replay(); err != nil || s.ID != paid.ID || len(page.Orders) != trade.MaxOrders {
			t.Errorf("the first of %d is %s, %v", len(page.Orders), s.Phase, err)
		}
	})
}
