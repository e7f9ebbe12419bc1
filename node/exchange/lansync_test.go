package exchange

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// An address that is not ready yet does not prevent the use of the others of its
// interface.
func TestListenAtAddressesThatAreReady(t *testing.T) {
	ready, not := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("2001:db8::1")
	for _, all := range [][]netip.Addr{{ready, not}, {not, ready}} {
		lns, err := listenAt(all)
		if err != nil || len(lns) != 1 {
			t.Fatalf("%v: %v, %v", all, lns, err)
		}
		lns[0].Close()
	}
	if lns, err := listenAt([]netip.Addr{not}); err == nil || len(lns) > 0 {
		t.Errorf("%v, %v", lns, err)
	}
}

// A request of another device is finished, or given up, before the envelope store is
// closed.
func TestCloseWaitsForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, done := &lanSync{}, false
		ctx, leave := context.WithCancel(t.Context())
		m.stopListening = leave
		begun := make(chan struct{})
		h := m.trackRequests(ctx, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(begun) // a second close panics
			<-ctx.Done()
			time.Sleep(time.Second) // with the bubble's clock
			done = true
		}))
		ask := func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)) }
		go ask()
		<-begun
		m.stopListeners()
		if !done {
			t.Error("finish returned before the request had ended")
		}
		ask() // this one comes too late
	})
}

// A link-local address is not one that a new device could connect to.
func TestNoURLForLinkLocal(t *testing.T) {
	m := &lanSync{listenAddr: netip.MustParseAddrPort("[fe80::1%eth0]:4711")}
	if url, err := m.url(); !errors.Is(err, serve.ErrUnsupported) {
		t.Errorf("%s, %v", url, err)
	}
}
