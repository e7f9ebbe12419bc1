package api_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/remote/page"
)

// A copied request, sent again by somebody who recorded it, uses up nothing of the signer's share.
func TestReplayedRequestIsNotCounted(t *testing.T) {
	s := serve(t, relay.Config{Quota: relay.Quota{PerMinute: 100}}, nil)
	h := s.settle("replayed")
	r := s.owner(h, "GET", "/log")
	if res, _, kind := r.do(t, s.addr); res.StatusCode != 200 {
		t.Fatal(res.Status, kind)
	}
	for range 150 {
		if res, _, kind := r.do(t, s.addr); kind != page.Replayed {
			t.Fatal(res.Status, kind)
		}
	}
	s.served(t, h, 5)
}

// A removed member uses up no nonces of the account.
func TestRemovedMemberUsesNoNonces(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.Nonces = 90 })
	h := s.settle("nonces")
	s.ok(s.as(h, h.Owner).AppendLog(t.Context(), h.Remove(h.Owner, h.Writer), ""))
	for range 50 {
		s.member(h, h.Writer, "GET", "/log").do(t, s.addr)
	}
	s.served(t, h, 5)
}

// Somebody who names unknown roots is told to wait, however well known the space is, and so is
// somebody who founds one space after another.
func TestUnknownRootsAreRateLimited(t *testing.T) {
	now := time.Now() // no time passes, in which the allowance would refill
	s := serve(t, relay.Config{Now: func() time.Time { return now }}, func(c *api.Config) { proxied(c); c.StrangersPerMinute = 10 })
	h := s.settle("known")
	s.served(t, h, 1)
	count := func(times int, request func(i int) *raw) (refused int) {
		for i := range times {
			if _, p, kind := request(i).do(t, s.addr); kind == page.Quota && p.What == "requests a minute without a key" {
				refused++
			}
		}
		return refused
	}
	if n := count(60, func(i int) *raw {
		r := came("203.0.113.1", s.owner(h, "GET", "/log"))
		r.p.KeyID = "root/" + fmt.Sprintf("%064x", i)
		return r
	}); n != 10 {
		t.Errorf("%d of 60 roots are refused unseen", n)
	}
	if n := count(15, func(i int) *raw {
		other := storetest.NewHousehold(t, fmt.Sprint("founded ", i))
		r := came("203.0.113.2", s.owner(other, "POST", "/log"))
		r.body = other.Entries[0].Bytes()
		return r
	}); n != 5 {
		t.Errorf("%d of 15 foundings are refused", n)
	}
}

// One account's streams leave room for another's.
func TestStreamsOfOneAccount(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.MaxConns = 60 })
	greedy, honest := s.settle("greedy"), s.settle("honest")
	listen := func(h *storetest.Household, p *storetest.Person) int {
		res, err := http.DefaultClient.Do(s.member(h, p, "GET", "/events").request(t, s.addr))
		s.ok(err)
		t.Cleanup(func() { res.Body.Close() })
		return res.StatusCode
	}
	taken := 0
	for range 10 {
		for _, p := range []*storetest.Person{greedy.Owner, greedy.Writer, greedy.Reader} {
			if listen(greedy, p) == 200 {
				taken++
			}
		}
	}
	if taken == 0 || taken > 20 {
		t.Errorf("one account has %d of 60 streams", taken)
	}
	if got := listen(honest, honest.Reader); got != 200 {
		t.Errorf("another account can't listen: %d", got)
	}
}

// An internal error is reported to the operator, and not to the client.
func TestFailureIsNotDescribed(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("fails")
	s.ok(s.store.Close())
	res, p, kind := s.owner(h, "GET", "/log").do(t, s.addr)
	if res.StatusCode != 500 || kind != page.Internal || p.Detail != "" {
		t.Fatal(res.Status, kind, p.Detail)
	}
	if !strings.Contains(s.logs.String(), `"error":`) {
		t.Error("nor to the operator")
	}
}

// A connection that is closed makes room for the next of its address.
func TestClosedConnectionFreesItsPlace(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.ConnsPerAddress = 3 })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for range 9 {
		c := dial(t, s, "127.0.0.2")
		s.ok(askHealth(c))
		s.ok(c.Close())
		for s.api.Open() > 0 {
			if runtime.Gosched(); ctx.Err() != nil {
				t.Fatal("the closed connection is still counted")
			}
		}
	}
}

// A proxy that the operator did not name can't choose the address for which it counts.
func TestUntrustedProxyIsIgnored(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.StrangersPerMinute = 1 })
	for i, want := range []int{204, 429} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.addr+"/v1/mailboxes/"+strings.Repeat("0", 32), nil)
		s.ok(err)
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i))
		if res, _, _ := answer(t, req); res.StatusCode != want {
			t.Errorf("request %d: %s", i, res.Status)
		}
	}
}
