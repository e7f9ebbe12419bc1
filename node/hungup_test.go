package node_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// letIn is a connection to the relay whose user hangs up as soon as a member is
// admitted.
type letIn struct {
	http.RoundTripper
	hangUp func()
}

func (l letIn) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.RoundTripper.RoundTrip(r)
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/log") {
		l.hangUp()
	}
	return res, err
}

// If somebody confirms that the words are the same and hangs up, for example by closing
// the page, the new device is admitted nevertheless, and learns of the space.
func TestPairAndDisconnect(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 45), newDevice(t, relay.url, 46)
	a.init()
	a.well()
	joined := a.meet(b)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	a.net.next = letIn{a.net.next, hangUp}
	if p, err := a.PairConfirm(ctx, serve.ConfirmRequest{Same: true}); err != nil || p.State != serve.PairDone || ctx.Err() == nil {
		t.Fatalf("%+v, %v, %v", p, err, ctx.Err())
	}
	if err := <-joined; err != nil {
		t.Fatal(err)
	}
	b.open()
	b.well()
}
