package x402

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
	"github.com/locket-dev/locket/cloud/market/tabletest"
)

// After a refusal the payer may pay again with another authorization. If the operator finds later
// that the first was settled, too, it is the payer's money, and pays nothing.
func TestRefusedAtSettlement(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.side.Set(func(s *x402test.Side) { s.Refuse = "invalid_exact_evm_signature" })
		p := d.proof("o1")
		d.settle(p, pay.ErrProof)
		d.settle(p, pay.ErrProof) // it gets the first answer
		d.has(0, 0)
		d.settle(d.proof("o1"), nil)
		d.has(1250, 12_500_000)
		m, err := d.p.read(p.Header, *p.For)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := d.p.Resolve(t.Context(), m.id, "0x"+strings.Repeat("ab", 32), false); err != nil {
				t.Fatal(err)
			}
		}
		var orders []string
		err = d.p.Resume(t.Context(), func(ctx context.Context, tx *sql.Tx, f pay.Fact) error {
			orders = append(orders, f.Order)
			return d.book()(ctx, tx, f)
		})
		if err != nil || len(orders) != 1 || orders[0] != "" {
			t.Errorf("it pays %q, %v", orders, err)
		}
		d.has(2500, 12_500_000)
		d.settle(p, pay.ErrProof)
		if r, err := d.p.ReceiptOf(t.Context(), "o1"); err != nil || !r.Success || r.Transaction == "0x"+strings.Repeat("ab", 32) {
			t.Errorf("the receipt of the order: %+v, %v", r, err)
		}
	})
}

// An answer that a facilitator may also give for a payment that it settled before does not count as
// a refusal.
func TestAmbiguousRefusal(t *testing.T) {
	for _, c := range []struct {
		reason string
		status int
		want   error
	}{
		{"invalid_exact_evm_signature", 402, pay.ErrProof}, {"invalid_exact_evm_signature", 400, pay.ErrProof}, {"invalid_exact_evm_signature", 500, ErrPending},
		{"invalid_exact_evm_signature", 404, ErrPending}, {"insufficient_funds", 200, ErrUnclear}, {"invalid_exact_evm_insufficient_balance", 402, ErrUnclear},
		{"invalid_exact_evm_payload_authorization_valid_before", 200, ErrUnclear}, {"another", 200, ErrPending},
	} {
		t.Run(fmt.Sprint(c.reason, c.status), func(t *testing.T) {
			d := newDesk(t, tabletest.SQLite(t))
			d.side.Set(func(s *x402test.Side) { s.Refuse, s.Status = c.reason, c.status })
			d.settle(d.proof("o1"), c.want)
		})
	}
}
