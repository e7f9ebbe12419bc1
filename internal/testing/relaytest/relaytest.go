// Package relaytest runs a relay, or a relay and a market, on TCP until a test ends.
package relaytest

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
)

// Relay is a running relay.
type Relay struct {
	URL   string
	Store *embedded.Store
	Stop  func() // stops it before the test ends
}

// Serve starts a relay that keeps its data in dir. c has the other parts to serve.
func Serve(t testing.TB, dir string, of relay.Config, c api.Config) *Relay {
	t.Helper()
	store, err := embedded.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Relay, c.Drain = relay.New(store, of), cmp.Or(c.Drain, 5*time.Second)
	c.StrangersPerMinute = cmp.Or(c.StrangersPerMinute, 10000)
	s := api.New(c)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	end := sync.OnceFunc(func() {
		stop()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return &Relay{URL: "http://" + ln.Addr().String(), Store: store, Stop: end}
}
