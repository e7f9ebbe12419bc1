package x402

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
)

// A relay is stopped while the facilitator is asked: the answer is stored and booked.
func TestAnswerIsBookedDuringShutdown(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.side.Set(func(s *x402test.Side) { s.Drop = 1 })
		d.settle(d.proof("o1"), ErrPending)
		d.wait(time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		d.side.BeforeSettle = stop
		if err := d.p.Resume(ctx, d.book()); err != nil {
			t.Fatal(err)
		}
		d.has(1250, 12_500_000)
	})
}

// Close waits for the answer, and nothing is sent afterwards.
func TestCloseWaitsForTheAnswer(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		closed := make(chan string, 1)
		d.side.BeforeSettle = func() {
			go func() {
				if err := d.p.Close(); err != nil {
					t.Error(err)
				}
				r, err := d.p.find(context.WithoutCancel(t.Context()), "", "o1")
				if err != nil {
					t.Error(err)
				}
				closed <- r.state
			}()
			for is := false; !is; runtime.Gosched() {
				d.p.mu.Lock()
				is = d.p.closed
				d.p.mu.Unlock()
			}
		}
		d.settle(d.proof("o1"), nil)
		if state := <-closed; state != settled && state != booked {
			t.Errorf("it was closed while the payment was %s", state)
		}
		d.settle(d.proof("o2"), ErrPending)
		if n := d.side.SettleCount(); n != 1 {
			t.Errorf("it was asked %d times to settle", n)
		}
	})
}

// An authorization was settled outside this market, directly at the facilitator. A payer who is
// told that nothing was taken would pay twice, so the operator has to look.
func TestSettledElsewhereNeedsTheOperator(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		p := d.proof("o1")
		m, err := d.p.read(p.Header, *p.For)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := d.p.ask(t.Context(), "/settle", m.request, settleTime); err != nil || s.Success == nil || !*s.Success {
			t.Fatalf("settled elsewhere: %+v, %v", s, err)
		}
		d.settle(p, ErrUnclear)
		d.settle(d.proof("o1"), ErrPending)
		all, err := d.p.Waiting(t.Context())
		if err != nil || len(all) != 1 || all[0].Order != "o1" || all[0].Reason != "invalid_exact_evm_nonce_already_used" {
			t.Fatalf("what waits: %+v, %v", all, err)
		}
		d.has(0, 12_500_000)
	})
}

// Another process marked it unclear while the facilitator was settling it.
func TestSuccessAfterMarkedUnclear(t *testing.T) {
	for state, want := range map[string]struct {
		err error
		has int64
	}{unclear: {nil, 1250}, refused: {pay.ErrProof, 0}} {
		each(t, func(t *testing.T, d *desk) {
			d.side.BeforeSettle = func() {
				err := d.db.Change(t.Context(), func(tx *sql.Tx) error {
					_, err := tx.ExecContext(t.Context(), `UPDATE x402_payments SET state = $1, busy = 0`, state)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			p := d.proof("o1")
			d.settle(p, want.err)
			d.has(want.has, 12_500_000)
			m, err := d.p.read(p.Header, *p.For)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := d.p.find(t.Context(), m.id, ""); err != nil || !hash.MatchString(r.tx) {
				t.Errorf("the transaction is forgotten: %+v, %v", r, err)
			}
		})
	}
}

// A payment that can't be booked does not hold up the others.
func TestFailedBookingHoldsUpNoOther(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		broken, tried := errors.New("broken"), 0
		book := func(context.Context, *sql.Tx, pay.Fact) error { tried++; return broken }
		if err := d.p.Settle(t.Context(), d.proof("o1"), book); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if err := d.p.Resume(t.Context(), book); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if err := d.p.Resume(t.Context(), book); err != nil || tried != 2 {
			t.Errorf("it was tried %d times, %v", tried, err)
		}
		d.wait(time.Minute)
		d.resume()
		d.has(1250, 12_500_000)
	})
}

// A payment for which the facilitator is slow does not delay questions about others.
func TestSlowFacilitatorDelaysNoOtherPayment(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.side.Set(func(s *x402test.Side) { s.Drop = 2 })
		d.settle(d.proof("o1"), ErrPending)
		d.settle(d.proof("o2"), ErrPending)
		d.wait(time.Minute)
		var both sync.WaitGroup
		both.Add(2)
		d.side.BeforeSettle = func() { both.Done(); both.Wait() }
		d.resume()
		d.has(2500, 25_000_000)
	})
}
