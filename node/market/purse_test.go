package market

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// A question that an app asks is sent with its order. Where the wearer approves the
// cost, they read the question first, and a yes is for one order.
func TestThreatAppAsksUnapproved(t *testing.T) {
	o := answers(t, garden, 50, 100, nil)
	var asked []string
	yes := map[memory.ID]bool{}
	var last memory.ID
	p := NewPurse(PurseConfig{Relay: func() string { return "" }, Buyer: o.buyer(), Store: stored{o.shop.store}, Now: o.now,
		AskApproval: func(_ context.Context, _, _ string, id memory.ID, what string) (bool, error) {
			asked, last = append(asked, what), id
			return yes[id], nil
		}})
	s := &serve.Spender{App: "shopper", AppBuying: serve.AppBuying{Market: o.url, Budget: "5.00 EUR"}}
	question := "what do slugs hate?"
	order := func() (serve.Purchase, error) { return p.Order(t.Context(), s, o.offer.Hash, "0.20 EUR", question) }
	if _, err := order(); !errors.Is(err, serve.ErrForbidden) || len(asked) != 1 || !strings.Contains(asked[0], question) {
		t.Fatalf("%v, asked %q", err, asked)
	}
	if sales := o.look(); len(sales) > 0 {
		t.Errorf("it left: %+v", sales)
	}
	yes[last] = true
	v, err := order()
	ok(t, err)
	if v, err = p.pay(t.Context(), s, v.Order); err != nil || v.Phase != trade.Funded || v.Waits {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := order(); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("a second order by the same yes: %v", err)
	}
}
