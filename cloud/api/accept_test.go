package api_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/internal/testing/fewfiles"
)

// Whoever opens so many connections that the relay has no file descriptors left does not end it.
func TestThreatNoDescriptorsLeft(t *testing.T) {
	store, err := embedded.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- api.New(api.Config{Relay: relay.New(store, relay.Config{})}).Serve(ctx, &fewfiles.Listener{Listener: ln})
	}()
	res, err := http.Get("http://" + ln.Addr().String() + "/healthz")
	if err != nil {
		t.Error(err)
	} else if res.Body.Close(); res.StatusCode != 200 {
		t.Error(res.Status)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
