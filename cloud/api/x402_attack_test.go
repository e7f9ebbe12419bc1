package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// An order's address is valid for that order alone, and only its buyer gets it.
func TestX402AddressIsOfOneOrder(t *testing.T) {
	p := newPaid(t)
	id, _, url := p.order()
	other, _, url2 := p.order()
	_, err := p.stranger.Checkout(t.Context(), id, "x402")
	p.is(err, remote.ErrNotFound)
	_, err = p.seller.Checkout(t.Context(), id, "x402")
	p.is(err, remote.ErrForbidden)
	_, err = p.buyer.Checkout(t.Context(), id, "x403")
	p.is(err, remote.ErrNotFound)
	for _, wrong := range []string{strings.Split(url, "?")[0], strings.Split(url, "=")[0] + "=", url + "0", strings.Replace(url, id.String(), other.String(), 1),
		strings.Replace(url, id.String(), strings.Repeat("0", 64), 1), strings.Replace(url, "?pass=", "?pass=0&pass=", 1)} {
		p.ask(wrong, nil, 404)
	}
	for _, wrong := range []string{strings.Replace(url, id.String(), strings.ToUpper(id.String()), 1), strings.Replace(url, id.String(), "1", 1)} {
		p.ask(wrong, nil, 400)
	}

	// A payment for one order pays no other, whatever the fields around it say.
	head, _ := p.ask(url, nil, 402)
	payment := p.agent.Pay(t, head, nil)
	p.ask(url, payment, 200)
	p.ask(url2, payment, 402)
	head2, _ := p.ask(url2, nil, 402)
	want := x402test.Read(t, head2)
	again := x402test.Change(t, payment, func(v map[string]any) { v["accepted"], v["resource"] = want.Accepts[0], want.Resource })
	for range 2 {
		if _, said := p.ask(url2, again, 402); said.Payment != "refused" || said.Transaction != "" {
			t.Errorf("%+v", said)
		}
	}
	p.stands(id, trade.Funded, 0, 5_000_000)
	p.stands(other, trade.Ordered, 0, 5_000_000)
}

// Invalid payments are refused with a reason, and do not reach the facilitator.
func TestX402RefusesRubbish(t *testing.T) {
	p := newPaid(t)
	id, _, url := p.order()
	head, _ := p.ask(url, nil, 402)
	good := p.agent.Pay(t, head, nil)
	change := func(f func(v, authorization map[string]any)) string {
		return x402test.Change(t, good, func(v map[string]any) { f(v, v["payload"].(map[string]any)["authorization"].(map[string]any)) }).Get(x402.FieldSignature)
	}
	p.side.Set(func(x *x402test.Side) {
		x.ChangeAnswer = func(path string, _ map[string]any) { t.Errorf("%s was asked", path) }
	})
	for what, rubbish := range map[string]string{
		"no base64":     "%",
		"an object":     "e30=",
		"null":          "bnVsbA==",
		"two headers":   good.Get(x402.FieldSignature) + ", " + good.Get(x402.FieldSignature),
		"too long":      strings.Repeat("A", x402.MaxSignature+1),
		"version 1":     change(func(v, _ map[string]any) { v["x402Version"] = 1 }),
		"no version":    change(func(v, _ map[string]any) { delete(v, "x402Version") }),
		"less":          change(func(_, a map[string]any) { a["value"] = "1" }),
		"other digits":  change(func(_, a map[string]any) { a["value"] = "05000000" }),
		"a number":      change(func(_, a map[string]any) { a["value"] = 5000000 }),
		"to the agent":  change(func(_, a map[string]any) { a["to"] = p.agent.Address }),
		"no nonce":      change(func(_, a map[string]any) { delete(a, "nonce") }),
		"over":          change(func(_, a map[string]any) { a["validBefore"] = "1" }),
		"for ever":      change(func(_, a map[string]any) { a["validBefore"] = strings.Repeat("9", 18) }),
		"not yet":       change(func(_, a map[string]any) { a["validAfter"] = fmt.Sprint(time.Now().Unix() + 3600) }),
		"less accepted": change(func(v, _ map[string]any) { v["accepted"].(map[string]any)["amount"] = "1" }),
	} {
		h, said := p.ask(url, http.Header{x402.FieldSignature: {rubbish}}, 402)
		if said.Payment != "refused" || said.Reason == "" || x402test.Read(t, h).Error != said.Reason {
			t.Errorf("%s: %+v", what, said)
		}
	}
	long := http.Header{x402.FieldSignature: {strings.Repeat("A", 17<<10)}} // longer than the head of any request
	if a, _, err := p.send(http.MethodGet, url, long); err != nil || a.StatusCode != 431 {
		t.Errorf("a head that is too long: %v, %v", a, err)
	}
	for method, want := range map[string]int{http.MethodPut: 405, http.MethodDelete: 405, http.MethodPost: 402} {
		if a, body, err := p.send(method, url, nil); err != nil || a.StatusCode != want {
			t.Errorf("%s: %v, %s, %v", method, a, body, err)
		}
	}
	c, err := net.Dial("tcp", p.addr)
	p.ok(err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nPayment-Signature: \x00\xff\r\nConnection: close\r\n\r\n", strings.TrimPrefix(url, "http://"+p.addr), p.addr)
	p.ok(err)
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	p.ok(err)
	a.Body.Close()
	if a.StatusCode != 402 && a.StatusCode != 400 {
		t.Errorf("bytes that are no text: %s", a.Status)
	}
	p.stands(id, trade.Ordered, 0, 0)
	p.side.Set(func(x *x402test.Side) { x.ChangeAnswer = nil })
	p.ask(url, good, 200)
	p.stands(id, trade.Funded, 0, 5_000_000)
}

// Many simultaneous payments of one order, by two wallets: one moves money, and repeating it gives
// the same answer.
func TestX402ConcurrentPayments(t *testing.T) {
	p := newPaid(t)
	rich := x402test.NewWallet("rich")
	p.side.Fund(rich.Address, 100_000_000)
	for round := range int64(3) {
		id, _, url := p.order()
		head, _ := p.ask(url, nil, 402)
		payments := []http.Header{p.agent.Pay(t, head, nil), p.agent.Pay(t, head, nil), rich.Pay(t, head, nil)}
		var all sync.WaitGroup
		for i := range 9 {
			all.Go(func() {
				a, body, err := p.send(http.MethodPost, url, payments[i%3])
				if err != nil || a.StatusCode != 200 && a.StatusCode != 202 {
					t.Errorf("%v, %s, %v", a, body, err)
				}
			})
		}
		all.Wait()
		p.stands(id, trade.Funded, 0, (round+1)*5_000_000)
		if n := p.side.SettleCount(); int64(n) != round+1 {
			t.Errorf("%d settlements were asked for after %d orders", n, round+1)
		}
	}
}

// An order lapses, or its buyer pays it in another way, while a payment by x402 is being settled:
// the money belongs to the buyer at the market. Shortly before an order's end, payment is no longer
// possible.
func TestX402OrderLapsesDuringSettlement(t *testing.T) {
	p := newPaid(t)
	id, st, url := p.order()
	head, _ := p.ask(url, nil, 402)
	left := time.Until(time.Unix(st.Deadline, 0))
	p.later.Store(int64(left - time.Minute))
	if _, said := p.ask(url, p.agent.Pay(t, head, nil), 402); !strings.Contains(said.Reason, "lapses") {
		t.Errorf("%+v", said)
	}
	p.stands(id, trade.Ordered, 0, 0)
	p.later.Store(0)
	p.side.Set(func(x *x402test.Side) { x.BeforeSettle = func() { p.later.Store(int64(left + time.Minute)) } })
	slow := p.agent.Pay(t, head, nil)
	for range 2 {
		if _, said := p.ask(url, slow, 409); said.Payment != "settled" || said.Transaction == "" {
			t.Errorf("%+v", said)
		}
	}
	p.later.Store(0)
	p.stands(id, trade.Ordered, 500, 5_000_000) // no sweep has ended it yet

	// A payment that came too late pays the next order, even while that one is being settled.
	next, _, url := p.order()
	head, _ = p.ask(url, nil, 402)
	p.side.Set(func(x *x402test.Side) {
		x.BeforeSettle = func() {
			if _, _, err := p.buyer.Pay(t.Context(), next, trade.Payment{}); err != nil {
				t.Error(err)
			}
		}
	})
	p.ask(url, p.agent.Pay(t, head, nil), 200)
	p.stands(next, trade.Funded, 500, 10_000_000)
}

// A buyer brings many payments for whose verification the facilitator takes long. They wait for
// each other, and a payment from another address is verified meanwhile.
func TestThreatVerificationsStalled(t *testing.T) {
	eve := x402test.NewWallet("eve")
	stalled, release := make(chan struct{}, 100), make(chan struct{})
	p := newPaidThrough(t, func(facilitator string) string {
		to, err := url.Parse(facilitator)
		if err != nil {
			t.Fatal(err)
		}
		through := httputil.NewSingleHostReverseProxy(to)
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(string(body), eve.Address) {
				stalled <- struct{}{}
				<-release
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			through.ServeHTTP(w, r)
		}))
		t.Cleanup(h.Close)
		return h.URL
	})
	pays := func(w *x402test.Wallet, from string) (id trade.Hash, send func(want int)) {
		id, _, url := p.order()
		head, _ := p.ask(url, nil, 402)
		h := w.Pay(t, head, nil)
		h.Set("X-Forwarded-For", from)
		return id, func(want int) {
			if a, body, err := p.send(http.MethodGet, url, h); err != nil || a.StatusCode != want {
				t.Errorf("from %s: %v, %s, want %d", from, err, body, want)
			}
		}
	}
	var all sync.WaitGroup
	for range 12 {
		_, send := pays(eve, "203.0.113.1")
		all.Go(func() { send(402) }) // she has no money
	}
	<-stalled
	<-stalled
	id, send := pays(p.agent, "192.0.2.1")
	send(200)
	p.stands(id, trade.Funded, 0, 5_000_000)
	if n := len(stalled); n > 0 {
		t.Errorf("%d more verifications of the first address run at once", n)
	}
	close(release)
	all.Wait()
}
