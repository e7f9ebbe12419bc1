package community

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A caller waits for a running exchange only as long as its context lasts.
func TestThreatSlowRelay(t *testing.T) {
	g := newGardeners(t, new(ticks))
	asked := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	defer slow.Close()
	g.ann.Reader.HTTP = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, slow.Listener.Addr().String())
	}}}
	during, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.ann.Maintain(during, g.ann.giver, nil) }()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.ann.List(ctx); !errors.Is(err, memory.ErrInUse) || !errors.Is(err, context.Canceled) {
		t.Errorf("beside an exchange: %v", err)
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("a relay that says nothing is no error")
	}
	if list := must[[]serve.CommunityHead](t)(g.ann.List(t.Context())); len(list) != 1 {
		t.Errorf("after it: %v", list)
	}
}

// A relay that refuses once is asked again after an hour, and what is no longer
// allowed is removed then.
func TestRefusedRelayIsRetried(t *testing.T) {
	clock := new(ticks)
	g := newGardeners(t, clock)
	g.ann.remember("Beans want poles", "garden")
	must[serve.CommunityView](t)(g.ann.Add(t.Context(), g.ann.giver, g.id, tagged("garden")))
	var refuses atomic.Bool
	var calls atomic.Int64
	g.ann.Reader.HTTP = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		calls.Add(1)
		if refuses.Load() {
			w := httptest.NewRecorder()
			w.WriteHeader(http.StatusForbidden)
			return w.Result(), nil
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	refuses.Store(true)
	maintain(t, g.ann)
	maintain(t, g.ann) // the first attempt after that
	g.ann.memories = nil
	refuses.Store(false)
	before := calls.Load()
	maintain(t, g.ann)
	if calls.Load() != before {
		t.Error("the relay that refused was asked again at once")
	}
	clock.s.Add(3600)
	maintain(t, g.ann)
	if v := must[serve.CommunityView](t)(g.mei.Show(t.Context(), g.id)); len(v.Items) != 0 {
		t.Errorf("forgotten, and there: %v", texts(v.Items))
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
