package console

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/console"
)

// beside serves a separate console in front of the daemon's API, at the address listen. It can be
// stopped while the daemon keeps running.
func beside(t *testing.T, listen string) *console.Console {
	t.Helper()
	l, err := config.Load(config.Sources{Flags: []config.Flag{{Key: "home", Value: home}}})
	if err != nil {
		t.Fatal(err)
	}
	network, address, err := l.Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "locket"})
	to.FlushInterval = -1
	to.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	c := console.New(console.Options{Listen: listen})
	c.Serve(to)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// The page opens while the node can't be reached, says so, and continues when the node answers
// again. The browser has stored the page's own files and nothing of the memory.
func TestNodeIsUnreachable(t *testing.T) {
	first := beside(t, freeport.Addr(t)) // used again after the restart
	l, err := first.OpenConsole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, l.URL)
	b.visit("/day/"+theDay, ".row.said")
	b.visit("/memories/vault", ".secrets li")
	js[any](b, `navigator.serviceWorker.ready.then(() => null)`)
	b.until(`!!navigator.serviceWorker.controller`)
	b.visit("/memories", ".rows li") // by the service worker
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	b.visit("/day/"+theDay, ".empty pre")
	b.says("Your node can't be reached")
	b.says("locket open") // a restarted node has another address
	b.accessible("away")
	b.shoot("away")
	// The stored page still has its content security policy, which is still enforced.
	if got := js[string](b, `fetch("/").then(r => r.headers.get("Content-Security-Policy"))`); !strings.Contains(got, "default-src 'none'") {
		t.Errorf("the kept page has the policy %q", got)
	}
	kept := js[[]string](b, `caches.keys().then(names => Promise.all(names.map(n => caches.open(n).then(c => c.keys())))).then(all => all.flat().map(r => new URL(r.url).pathname))`)
	hash := regexp.MustCompile(`-[0-9A-Z]{8}\.`)
	if got, want := hash.ReplaceAllString(strings.Join(kept, " "), "-H."), "/chunk-H.js /console.css /console.js /icon.svg / /manifest.webmanifest /more.en-H.js /more.zh-H.js /rest-H.js /words.en-H.js /words.zh-H.js"; got != want {
		t.Errorf("the browser keeps %s, and not %s", got, want)
	}
	if got := js[string](b, `fetch("/v1/status").then(r => "answered", () => "away")`); got != "away" {
		t.Error("the API answers from the browser's memory")
	}
	// A restarted node does not know the session, and the page says so.
	u, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := beside(t, u.Host).OpenConsole(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(".door"))
	b.says("This session has ended")
}
