package x402

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
)

// A key may have a limited number of waiting payouts; repeating one adds none.
func TestPendingPayoutsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m := ledger.Money{Minor: 100, Currency: "EUR"}
		var first string
		for i := range maxOwed {
			id, err := d.p.Payout(t.Context(), fmt.Sprint("payout ", i), d.w.Address, m)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = id
			}
		}
		if _, err := d.p.Payout(t.Context(), "one more", d.w.Address, m); !errors.Is(err, ErrOwed) {
			t.Errorf("one more: %v", err)
		}
		if id, err := d.p.Payout(t.Context(), "payout 0", d.w.Address, m); err != nil || id != first {
			t.Errorf("the first again: %q, %v", id, err)
		}
		if _, err := d.p.Payout(t.Context(), "of another", x402test.PayTo, m); err != nil {
			t.Errorf("another key: %v", err)
		}
		if err := d.p.Resolve(t.Context(), first, "0x"+strings.Repeat("cd", 32), false); err != nil {
			t.Fatal(err)
		}
		if _, err := d.p.Payout(t.Context(), "one more", d.w.Address, m); err != nil {
			t.Errorf("after one was paid: %v", err)
		}
		second, err := d.p.Payout(t.Context(), "payout 1", d.w.Address, m)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.p.Resolve(t.Context(), second, "0x"+strings.Repeat("cd", 32), false); !errors.Is(err, ErrNone) {
			t.Errorf("by the transaction of another: %v", err)
		}
		for range 2 {
			if err := d.p.Resolve(t.Context(), second, "0x"+strings.Repeat("CD", 32), true); err != nil {
				t.Errorf("paid together: %v", err)
			}
		}
		for _, id := range []string{first, second} { // the entire command again, with or without the others
			for _, together := range []bool{false, true} {
				if err := d.p.Resolve(t.Context(), id, "0x"+strings.Repeat("cd", 32), together); err != nil {
					t.Errorf("again, together %v: %v", together, err)
				}
			}
		}
		if _, err := d.p.Payout(t.Context(), "little", x402test.PayTo, ledger.Money{Minor: 99, Currency: "EUR"}); !errors.Is(err, ledger.ErrAmount) {
			t.Errorf("too little: %v", err)
		}
	})
}
