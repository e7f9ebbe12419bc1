package x402

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
	"github.com/locket-dev/locket/cloud/market/tabletest"
)

// Two authorizations for one order at once, in two processes: one is sent. One authorization for
// two orders at once: it pays one.
func TestThreatPaymentsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		other := open(t, d.db, d.p.c)
		race := func(proofs []pay.Proof) (taken int) {
			var all sync.WaitGroup
			var mu sync.Mutex
			for i, p := range proofs {
				all.Go(func() {
					by := d.p
					if i%2 > 0 {
						by = other
					}
					err := by.Settle(t.Context(), p, d.book())
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						taken++
					case !errors.Is(err, ErrPending) && !errors.Is(err, pay.ErrUsed) && !errors.Is(err, pay.ErrProof):
						t.Error(err)
					}
				})
			}
			all.Wait()
			return taken
		}
		var proofs []pay.Proof
		for range 8 {
			proofs = append(proofs, d.proof("o1"))
		}
		if n := race(proofs); n != 1 {
			t.Errorf("%d authorizations paid one order", n)
		}
		d.has(1250, 12_500_000)
		one := d.proof("o2")
		proofs = nil
		for i := range 8 {
			r := *one.For
			r.Order = fmt.Sprint("p", i)
			want, err := d.p.Required(r, "")
			if err != nil {
				t.Fatal(err)
			}
			proofs = append(proofs, pay.Proof{For: &r, Header: x402test.Change(t, one.Header, func(v map[string]any) { v["accepted"], v["resource"] = want.Accepts[0], want.Resource })})
		}
		if n := race(proofs); n != 1 {
			t.Errorf("one authorization paid %d orders", n)
		}
		d.has(2500, 25_000_000)
	})
}

// A facilitator's answer is believed only if it is about this payment.
func TestThreatFacilitatorLies(t *testing.T) {
	for name, say := range map[string]func(map[string]any){
		"another payer":           func(a map[string]any) { a["payer"] = x402test.PayTo },
		"another network":         func(a map[string]any) { a["network"] = "eip155:1" },
		"no network":              func(a map[string]any) { delete(a, "network") },
		"another amount":          func(a map[string]any) { a["amount"] = "1" },
		"no transaction":          func(a map[string]any) { a["transaction"] = "" },
		"a word as a transaction": func(a map[string]any) { a["transaction"] = "0xyes" },
		"a wrong type":            func(a map[string]any) { a["success"] = "true" },
		"nothing":                 func(a map[string]any) { clear(a) },
		"too much":                func(a map[string]any) { a["more"] = strings.Repeat("a", maxAnswer) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, tabletest.SQLite(t))
			d.side.Set(func(s *x402test.Side) {
				s.ChangeAnswer = func(path string, a map[string]any) {
					if path == "/settle" {
						say(a)
					}
				}
			})
			if err := d.p.Settle(t.Context(), d.proof("o1"), d.book()); !errors.Is(err, ErrUnclear) && !errors.Is(err, ErrPending) {
				t.Errorf("settle: %v", err)
			}
			d.has(0, 12_500_000)
		})
	}
	t.Run("the transaction of another", func(t *testing.T) {
		d := newDesk(t, tabletest.SQLite(t))
		d.settle(d.proof("o1"), nil)
		r, err := d.p.ReceiptOf(t.Context(), "o1")
		if err != nil {
			t.Fatal(err)
		}
		d.side.Set(func(s *x402test.Side) {
			s.ChangeAnswer = func(_ string, a map[string]any) { a["transaction"] = r.Transaction }
		})
		d.settle(d.proof("o2"), ErrUnclear)
		d.has(1250, 25_000_000)
	})
	t.Run("verification of another payer", func(t *testing.T) {
		d := newDesk(t, tabletest.SQLite(t))
		d.side.Set(func(s *x402test.Side) {
			s.ChangeAnswer = func(_ string, a map[string]any) { a["payer"] = x402test.PayTo }
		})
		d.settle(d.proof("o1"), ErrFacilitator)
		d.has(0, 0)
	})
}

// Somebody with a free key can't waste requests for long: the facilitator is not asked any more for
// that key, but still for other buyers.
func TestThreatFacilitatorWornOut(t *testing.T) {
	d := newDesk(t, tabletest.SQLite(t))
	asked := 0
	d.side.Set(func(s *x402test.Side) { s.ChangeAnswer = func(string, map[string]any) { asked++ } })
	good, poor := d.proof("o1"), d.proof("o1")
	poor.Header = x402test.NewWallet("poor").Pay(t, begun(t, d.p, *poor.For), nil)
	for range maxWrong {
		d.settle(poor, pay.ErrProof)
	}
	d.settle(poor, pay.ErrTries)
	d.settle(good, pay.ErrTries)
	if asked != maxWrong {
		t.Errorf("the facilitator was asked %d times", asked)
	}
	other := d.proof("o2")
	other.For.Payer = "eve"
	d.settle(other, nil)
	d.wait(window)
	good.Header = d.w.Pay(t, begun(t, d.p, *good.For), func(a *x402test.Authorization) {
		a.ValidBefore = strconv.FormatInt(d.p.c.Now().Unix()+maxTimeout, 10)
	})
	d.settle(good, nil)
}

// No more than a few verifications run at once.
func TestManyVerificationsAtOnce(t *testing.T) {
	d := newDesk(t, tabletest.SQLite(t))
	var running atomic.Int64
	full := make(chan struct{})
	once := sync.OnceFunc(func() { close(full) })
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := running.Add(1)
		if n == maxVerify {
			once()
		}
		<-full
		if n > maxVerify {
			t.Errorf("%d run at once", n)
		}
		running.Add(-1)
	}))
	defer h.Close()
	c := d.p.c
	c.Facilitator = h.URL
	p := open(t, d.db, c)
	var all sync.WaitGroup
	for i := range 3*maxVerify - 1 {
		proof := d.proof(fmt.Sprint("o", i))
		proof.From = fmt.Sprint("address ", i)
		all.Go(func() {
			if err := p.Settle(t.Context(), proof, d.book()); !errors.Is(err, ErrFacilitator) {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
