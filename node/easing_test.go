package node_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// noBlobs is a relay that neither accepts nor returns blobs, but everything
// else.
type noBlobs struct{ next http.RoundTripper }

func (n noBlobs) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/blobs") {
		return noNetwork{}.RoundTrip(r)
	}
	return n.next.RoundTrip(r)
}

// One round of sync brings a new device many times its budget. What was said
// days ago turns cold during the round and not at its end, with deltas and with
// a snapshot. If that is not possible, sync continues, and the device keeps
// everything.
func TestFirstSyncKeepsTheBudget(t *testing.T) {
	t.Parallel()
	relay := serveRelay(t)
	a := newDevice(t, relay.url, 1)
	a.cfg.Sync.Snapshots = 1 << 30
	a.skew = -72 * time.Hour
	a.init()
	const facts, each, budget = 120, 10, 20
	for i := range facts {
		a.tell(fmt.Sprintf("The kettle number %d stands in room %d.", i, 100+i), nil)
		if i%each == each-1 {
			a.well()
		}
	}
	a.skew = 0
	want := a.state()
	first := func(seed uint64) *device {
		d := newDevice(t, relay.url, seed)
		d.cfg.Hot.Records = budget
		a.pair(d)
		return d
	}

	b := first(2)
	b.well()
	const most = budget + budget/4 + 2*each
	if s, err := b.Tiers(t.Context()); err != nil || s.Hot+s.Cold != facts || s.Hot > most || s.Blocked != "" {
		t.Errorf("after one round: %+v, %v", s, err)
	}
	b.cfg.Hot.Records = 0
	b.reopen()
	if _, err := b.MoveTiers(t.Context(), serve.MoveRequest{All: true}); err != nil {
		t.Fatal(err)
	}
	if got := b.state(); got != want {
		t.Errorf("came as\n%s\nwant\n%s", got, want)
	}

	c := first(3)
	c.net.next = noBlobs{c.net.next}
	c.well()
	if s, err := c.Tiers(t.Context()); err != nil || s.Hot != facts || s.Cold != 0 || s.Blocked == "" {
		t.Errorf("without blobs: %+v, %v", s, err)
	}
	if got := c.state(); got != want {
		t.Errorf("without blobs it came as\n%s\nwant\n%s", got, want)
	}

	a.cfg.Sync.Snapshots, a.cfg.Sync.Compact = 1, true
	for _, of := range []*device{a, b, a} { // one makes a snapshot, the other verifies it, and the deltas' bodies are dropped
		of.reopen()
		of.well()
	}
	d := first(4)
	d.well()
	if s, err := d.Tiers(t.Context()); err != nil || s.Hot+s.Cold != facts || s.Hot > most {
		t.Errorf("by a snapshot: %+v, %v", s, err)
	}
}
