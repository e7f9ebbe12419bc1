package node_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/replica"
)

func loopback(t *testing.T) string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 {
			return i.Name
		}
	}
	t.Fatal("no loopback interface")
	return ""
}

// until waits for what devices do in the background. If that does not happen, state
// says what there is instead.
func until(t *testing.T, what string, state func() string, done func() bool) {
	t.Helper()
	for range 6000 { // of a tenth of a second each, since a slow machine is not a broken one
		if done() {
			return
		}
		wait.For(t.Context(), 100*time.Millisecond)
	}
	t.Fatalf("%s: %s", what, state())
}

// Two devices whose relay is gone find each other by multicast, and end up alike;
// neither meets a stranger's node in the same network.
func TestSyncInTheLocalNetwork(t *testing.T) {
	t.Parallel()
	relay := serveRelay(t)
	lo := loopback(t)
	a, b, stranger := newDevice(t, relay.url, 71), newDevice(t, relay.url, 72), newDevice(t, "", 73)
	for _, d := range []*device{a, b, stranger} {
		d.cfg.Sync.LAN, d.cfg.Sync.Interface = true, lo
		d.cfg.Broker.Embedded, d.cfg.Broker.Listen = true, "127.0.0.1:0"
	}
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	stranger.init()
	stranger.home("Lima")
	relay.stop()
	mat := a.tell("The key is under the mat.", nil)
	b.home("Ghent")
	for _, d := range []*device{a, b, stranger} {
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	both := func() string { return "first\n" + a.state() + "\nsecond\n" + b.state() }
	until(t, "what each had said", both, func() bool { return strings.Contains(a.state(), "Ghent") && strings.Contains(b.state(), "mat") })
	b.tell("The plums are ripe.", nil)
	until(t, "what comes while they know each other", both, func() bool { return strings.Contains(a.state(), "plums") })
	until(t, "the same on both", both, func() bool { return a.state() == b.state() })
	list, err := stranger.Relays(t.Context())
	if err != nil || len(list) != 0 {
		t.Errorf("a stranger met %+v, %v", list, err)
	}
	until(t, "that the other has all", both, func() bool {
		members, err := a.Members(t.Context())
		if err != nil || len(members) != 2 {
			t.Fatal(members, err)
		}
		other := members[slices.IndexFunc(members, func(m serve.Member) bool { return !m.Here })]
		return other.Reach != nil && other.Reach.By == serve.ReachMet && other.Reach.Behind == 0 && other.Reach.Has > 0 && other.Sent > 0
	})
	until(t, "that the other has this memory", both, func() bool {
		w, err := a.Where(t.Context(), mat)
		if err != nil || len(w.Members) != 2 {
			t.Fatal(w, err)
		}
		return w.Members[1].Holds == serve.HoldsAll
	})
	// A place that was lost for a moment is found again.
	until(t, "the other device among the places, once", both, func() bool {
		list, err := a.Relays(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		peers := slices.DeleteFunc(list, func(r serve.Relay) bool { return r.Kind != serve.RelayPeer })
		return len(peers) == 1
	})
}

// A device is admitted, and both are kept alike, without any relay.
func TestPairAndSyncWithoutARelay(t *testing.T) {
	lo := loopback(t)
	a, b := newDevice(t, "", 81), newDevice(t, "", 82)
	for _, d := range []*device{a, b} {
		d.cfg.Sync.LAN, d.cfg.Sync.Interface = true, lo
		d.cfg.Broker.Embedded, d.cfg.Broker.Listen = true, "127.0.0.1:0"
	}
	a.init()
	a.home("Berlin")
	a.pair(b)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if s := b.sync(); s.Removed || s.Error != replica.ErrUnlisted.Error() {
		t.Errorf("before the two met: %+v", s)
	}
	a.open()
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer a.Stop(context.Background())
	b.home("Ghent")
	for range 600 { // each looks for three seconds, and longer where the machine is slow
		if s := b.sync(); s.Pending == 0 && strings.Contains(b.state(), "Berlin") && a.state() == b.state() {
			break
		}
	}
	if a.state() != b.state() || !strings.Contains(a.state(), "Ghent") || !strings.Contains(a.state(), "Berlin") {
		t.Fatalf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
	if members, err := b.Members(t.Context()); err != nil || len(members) != 2 {
		t.Errorf("%+v, %v", members, err)
	}
}
