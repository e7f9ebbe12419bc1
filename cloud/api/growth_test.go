package api_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
)

// counted is a store that counts how often logs are read. The first read waits until the given
// number of requests has looked up the space.
type counted struct {
	*embedded.Store
	logs, asked atomic.Int64
	wait        int64
	all         chan struct{}
}

func (c *counted) Space(ctx context.Context, space memory.SpaceID) (relay.Space, error) {
	if c.asked.Add(1) == c.wait {
		close(c.all)
	}
	return c.Store.Space(ctx, space)
}

func (c *counted) Log(ctx context.Context, space memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	c.logs.Add(1)
	select {
	case <-c.all:
	case <-ctx.Done():
	}
	return c.Store.Log(ctx, space, n, limit)
}

// Joining and leaving members can only use up so much in a space, and a stranger can't make the
// relay read a log again and again.
func TestThreatMembershipThatGrows(t *testing.T) {
	t.Run("weight", func(t *testing.T) {
		s := serve(t, relay.Config{Quota: relay.Quota{Membership: 64 << 10}}, nil)
		h := s.settle("grows")
		as := s.as(h, h.Owner)
		var err error
		var last *storetest.Person
		n := 0
		for ; err == nil && n < 400; n++ {
			last = storetest.NewHousehold(t, fmt.Sprint("guest ", n)).Owner
			e := h.Sign(h.Owner, &envelope.Entry{Action: envelope.Add, Epoch: h.State.Epoch(), Member: &envelope.Member{ID: last.ID, Key: last.Public(),
				Recipient: strings.Repeat("a", 1900), Role: envelope.Reader}, Wraps: []envelope.Wrap{{To: last.ID, Keys: []byte("sealed")}}})
			if err = as.AppendLog(t.Context(), e, ""); err == nil {
				h.Append(h.Owner, e)
				err = as.AppendLog(t.Context(), h.Remove(h.Owner, last), "")
			}
		}
		var e *remote.Error
		if !errors.As(err, &e) || e.What != "bytes of membership" {
			t.Fatalf("after %d: %v", n, err)
		}
		s.ok(as.AppendLog(t.Context(), h.Remove(h.Owner, h.Reader), "")) // every remaining member can still be removed
		s.served(t, h, 1)
	})
	t.Run("reading", func(t *testing.T) {
		first := serve(t, relay.Config{}, nil)
		h, other := first.settle("read"), first.settle("other")
		store := &counted{Store: first.store, wait: 40, all: make(chan struct{})}
		s := serveOn(t, store, func(c *api.Config) { proxied(c); c.StrangersPerMinute = 20 }) // another relay on the same store, which has read nothing yet
		var wg sync.WaitGroup
		reqs := make([]*http.Request, 40)
		for i := range reqs {
			r := came(fmt.Sprintf("203.0.113.%d", i), s.owner(h, "GET", "/log"))
			r.p.KeyID = h.Space.String() + "/" + memory.MemberID{9}.String()
			reqs[i] = r.request(t, s.addr)
		}
		for _, r := range reqs {
			wg.Go(func() {
				if res, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			})
		}
		wg.Wait()
		if n := store.logs.Load(); n != 1 {
			t.Errorf("a log was read %d times", n)
		}
		// Somebody who names unknown spaces is told to wait.
		refused := 0
		for i := range 400 {
			var space memory.SpaceID
			sum := sha256.Sum256([]byte(fmt.Sprint(i)))
			copy(space[:], sum[:])
			r := came("203.0.113.77", s.owner(h, "GET", ""))
			r.path = "/v1/spaces/" + space.String() + "/log"
			r.p.KeyID = space.String() + "/" + h.Owner.ID.String()
			if res, _, _ := r.do(t, s.addr); res.StatusCode == 429 {
				refused++
			}
		}
		if refused == 0 {
			t.Error("somebody at one address tries as often as he likes")
		}
		s.served(t, other, 5)
	})
}
