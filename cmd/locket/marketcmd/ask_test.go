package marketcmd

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/sync/trade"
)

// A market that fails while an answer is awaited is asked again, and the buyer sees the order's id
// at once.
func TestAskMarketFails(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var asked atomic.Int32
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 3 {
			stop()
		}
		http.NotFound(w, r)
	}))
	defer gone.Close()
	var out, errs bytes.Buffer
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}, Stdout: &out, Stderr: &errs}
	o := &market.Bought{Market: gone.URL, State: &trade.State{Offer: new(trade.Offer), ID: trade.Hash{0xab, 0xcd}, Phase: trade.Funded}}
	o.State.Order.Price, o.State.Order.Currency = 20, "EUR"
	b := &market.Buyer{Dir: t.TempDir(), Now: time.Now}
	if err := awaitAnswer(a, ctx, b, o, time.Millisecond, time.Minute); err == nil {
		t.Error("no error")
	}
	if asked.Load() < 3 {
		t.Errorf("asked %d times", asked.Load())
	}
	id := o.State.ID.String()
	if got := errs.String(); !strings.HasPrefix(got, "Asked and paid 0.20 EUR: "+id) || !strings.Contains(got, "locket market open "+id[:10]) {
		t.Errorf("said %q", got)
	}
	errs.Reset()
	if err := awaitAnswer(a, t.Context(), b, o, time.Minute, 0); err != nil || !strings.Contains(out.String(), id) || !strings.Contains(errs.String(), "locket market open "+id[:10]) {
		t.Errorf("not answered in time: %v, %q, %q", err, out.String(), errs.String())
	}
}
