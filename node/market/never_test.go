package market

import (
	"context"
	"testing"

	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// never sets the words that are never shared.
func (o *oracle) never(words ...string) {
	o.Shop.c.NeverShared = func(context.Context) ([]string, error) { return words, nil }
}

// A word that the wearer adds to the never list is sold no more: neither in answers, nor in copies,
// nor in the texts of a listing that everybody reads. What was listed before is withdrawn, and paid
// orders are refunded.
func TestThreatNeverListAfterListing(t *testing.T) {
	t.Run("answers", func(t *testing.T) {
		o := answers(t, garden, 50, 100, nil)
		b := o.buyer()
		o.never("Zuzana")
		if texts, _ := o.hears(b, "when do tomatoes want water?"); len(texts) == 0 {
			t.Error("a word that is in no memory holds the answer back")
		}
		o.never("Zuzana", "basil")
		order := o.asks(b, "when do tomatoes want water?")
		o.look()
		if texts, _ := o.heard(b, order); texts != nil || order.State.Reason != notForSale {
			t.Errorf("answered %q, %q", texts, order.State.Reason)
		}
		o.ended()
	})
	for name, word := range map[string]string{"copies": "quinces", "one form of a copy": "usually", "the other form": "normally", "title": "diary"} {
		t.Run(name, func(t *testing.T) {
			o := answers(t, garden, 50, 100, nil)
			o.sellsDiary(40)
			b := o.buyer()
			var order *Bought
			ok(t, b.WithMarket(t.Context(), o.url, func(m *remote.Market, by trade.Party, _ trade.Terms) (err error) {
				order, err = b.Order(t.Context(), m, by, o.url, o.offer)
				return err
			}))
			ok(t, b.Pay(t.Context(), order, ""))
			o.never(word)
			o.look()
			ok(t, b.Refresh(t.Context(), order))
			if order.State.Phase != trade.Refunded || order.State.Reason != notForSale {
				t.Errorf("it is %s, %q", order.State.Phase, order.State.Reason)
			}
			o.ended()
		})
	}
}

// ended checks that the listing is withdrawn, here and at its market.
func (o *oracle) ended() {
	o.Helper()
	all, err := o.list(o.Context())
	ok(o.T, err)
	if l := versionOf(all, o.offer.Hash); l == nil || l.Withdrawn.IsZero() || l.Held == "" {
		o.Errorf("here it is %+v", l)
	}
	if v, err := o.market.Show(o.Context(), o.offer.ID()); err != nil || v.State != trade.Withdrawn {
		o.Errorf("the market shows it as %s, %v", v.State, err)
	}
}
