package api_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/memory"
)

// slowRecords is a store that takes long to read the checkpoints of one space.
type slowRecords struct {
	*embedded.Store
	space   memory.SpaceID
	came    chan struct{}
	release chan struct{}

	asked atomic.Int64  // how often the space was looked up
	all   chan struct{} // closed when that is heavyAsked times
}

// heavyAsked is once for each of 21 requests when its sender is looked up, and once more for each of
// two that run.
const heavyAsked = 23

func (s *slowRecords) Space(ctx context.Context, space memory.SpaceID) (relay.Space, error) {
	if space == s.space && s.asked.Add(1) == heavyAsked {
		close(s.all)
	}
	return s.Store.Space(ctx, space)
}

func (s *slowRecords) Records(ctx context.Context, space memory.SpaceID) ([]relay.Record, error) {
	if space == s.space {
		s.came <- struct{}{}
		<-s.release
	}
	return s.Store.Records(ctx, space)
}

// A member sends many requests that take long, from many addresses. One of them runs, the owner's
// own one beside it, and all others wait, while other accounts are served.
func TestThreatHeavyRequests(t *testing.T) {
	first := serve(t, relay.Config{}, nil)
	h, other := first.settle("heavy"), first.settle("other")
	store := &slowRecords{Store: first.store, space: h.Space, came: make(chan struct{}, 100), release: make(chan struct{}), all: make(chan struct{})}
	s := serveOn(t, store, proxied)
	var all sync.WaitGroup
	send := func(h *storetest.Household, p *storetest.Person, from string) {
		r := came(from, s.member(h, p, "GET", "/checkpoints")).request(t, s.addr)
		all.Go(func() {
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			if a.Body.Close(); a.StatusCode != 200 {
				t.Errorf("from %s: %s", from, a.Status)
			}
		})
	}
	for i := range 20 {
		send(h, h.Writer, fmt.Sprintf("203.0.113.%d", i))
	}
	<-store.came
	send(h, h.Owner, "192.0.2.1")
	<-store.came
	<-store.all
	for range 3 {
		if a, _, kind := came("192.0.2.2", s.owner(other, "GET", "/checkpoints")).do(t, s.addr); a.StatusCode != 200 {
			t.Errorf("another account: %s %s", a.Status, kind)
		}
	}
	if n := len(store.came); n > 0 {
		t.Errorf("%d more run", n)
	}
	close(store.release)
	all.Wait()
}
