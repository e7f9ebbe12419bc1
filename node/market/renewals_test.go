package market

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// A check of the subscriptions that is cut off, for example because the page was left,
// says nothing about them: the result of the last check stays.
func TestRenewalCheckInterrupted(t *testing.T) {
	ctx, cut := context.WithCancel(t.Context())
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cut()
		<-r.Context().Done()
	}))
	defer away.Close()
	b := &Buyer{Dir: t.TempDir()}
	s := &Subscribed{Address: away.URL, Title: "Fruit", Last: trade.Wait, Why: "this period is paid",
		Subscription: trade.Subscription{Listing: trade.Hash{1}, Period: trade.MinPeriod, Most: 200, Currency: "EUR", Periods: 3, Since: 1}}
	ok(t, b.deciding(ctx, func() error { return b.keepSubscribed(s) }))
	before, err := os.ReadFile(b.subscribedFile(s.Listing))
	ok(t, err)
	if _, err := b.Renew(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not cut off: %v", err)
	}
	if after, err := os.ReadFile(b.subscribedFile(s.Listing)); err != nil || string(after) != string(before) {
		t.Errorf("it says %s, %v", after, err)
	}
}

// A market that can't be reached, or for which another key answers, is reported to the
// wearer.
func TestMarketFailuresAreReported(t *testing.T) {
	b := &Buyer{Dir: t.TempDir()}
	nobody := func(*remote.Market, trade.Party, trade.Terms) error { return nil }
	if err := refusal(b.WithMarket(t.Context(), "http://127.0.0.1:1", nobody)); !errors.Is(err, serve.ErrRelay) {
		t.Errorf("nobody answers: %v", err)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>Log in"))
	}))
	defer page.Close()
	if err := refusal(b.WithMarket(t.Context(), page.URL, nobody)); !errors.Is(err, serve.ErrRelay) {
		t.Errorf("a portal answers: %v", err)
	}
	ok(t, b.pin(t.Context(), "https://market.example", trade.Key{1}))
	if err := refusal(b.pin(t.Context(), "https://market.example", trade.Key{2})); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("another key answers: %v", err)
	}
}

// A failure on this machine is not a failure of a relay.
func TestLocalFailuresAreNotTheRelays(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, open := os.Open(missing)
	full := &fs.PathError{Op: "write", Path: missing, Err: syscall.ENOSPC}
	b := newPending(t, "https://market.example")
	o := b.kept()
	held, err := filelock.Take(filepath.Join(b.Dir, ordersDir, "."+o.State.ID.String()+".lock"))
	ok(t, err)
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	waits := b.Accept(over, o)
	ok(t, held.Release())
	if !errors.Is(waits, context.DeadlineExceeded) || !errors.Is(waits, memory.ErrInUse) {
		t.Fatalf("it does not wait for the lock: %v", waits)
	}
	for what, err := range map[string]error{"a file that is missing": open, "a disk that is full": full, "a rename": os.Rename(missing, missing+"2"), "an order's lock": waits} {
		if errors.Is(refusal(err), serve.ErrRelay) {
			t.Errorf("%s is told as %v", what, refusal(err))
		}
	}

	nobody := func(*remote.Market, trade.Party, trade.Terms) error { return nil }
	drops := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer drops.Close()
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	}))
	defer half.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	impatient := &Buyer{Dir: t.TempDir(), HTTP: &http.Client{Timeout: time.Millisecond}}
	for what, err := range map[string]error{
		"a connection that drops":   (&Buyer{Dir: t.TempDir()}).WithMarket(t.Context(), drops.URL, nobody),
		"half an answer":            (&Buyer{Dir: t.TempDir()}).WithMarket(t.Context(), half.URL, nobody),
		"a market that is silent":   impatient.WithMarket(t.Context(), silent.URL, nobody),
		"a name that nobody has":    &net.DNSError{Err: "no such host", Name: "market.example", IsNotFound: true},
		"a log that can't be asked": &url.Error{Op: "Get", URL: "https://market.example", Err: io.EOF},
	} {
		if !errors.Is(refusal(err), serve.ErrRelay) {
			t.Errorf("%s is told as %v", what, refusal(err))
		}
	}
}
