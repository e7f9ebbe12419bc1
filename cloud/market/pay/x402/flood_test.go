package x402

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
)

// A payer cancels authorizations and brings them, which moves no money, or brings many whose answers
// are lost. The operator still sees the payments of others, whose answers were lost.
func TestThreatOperatorsListFilled(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		eve := x402test.NewWallet("eve")
		d.side.Fund(eve.Address, 10_000_000_000)
		flood := func(name string, cancelled bool) (all []pay.Proof) {
			for i := range maxOpen + 5 {
				r := pay.Request{Key: fmt.Sprint(name, i), Payer: fmt.Sprint(name, i/20), Order: fmt.Sprint(name, i), Money: ledger.Money{Minor: 1250, Currency: "EUR"}}
				all = append(all, pay.Proof{For: &r, Header: eve.Pay(t, begun(t, d.p, r), func(a *x402test.Authorization) {
					if cancelled {
						d.side.Cancel(a.From, a.Nonce)
					}
				})})
			}
			return all
		}
		for _, p := range flood("cancelled ", true) {
			d.settle(p, ErrUnclear)
		}
		d.side.Set(func(s *x402test.Side) { s.Lose = 1000 })
		sent := append(flood("lost ", false), d.proof("o1"))
		for _, p := range sent {
			d.settle(p, ErrPending)
		}
		d.side.Set(func(s *x402test.Side) { s.Lose = 0 })
		d.wait(time.Minute)
		for _, p := range sent {
			d.settle(p, ErrUnclear)
		}
		all, err := d.p.Waiting(t.Context())
		if err != nil || !slices.ContainsFunc(all, func(o Open) bool { return o.Order == "o1" }) {
			t.Errorf("the operator sees %d payments, and not the one that may have moved money: %v", len(all), err)
		}
		if len(all) != maxOpen {
			t.Errorf("%d wait", len(all))
		}
	})
}
