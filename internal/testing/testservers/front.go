package testservers

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Front is a proxy in front of a service: a test can inspect requests there, and answer them in the
// service's place. It is safe for concurrent use.
type Front struct {
	*httptest.Server

	mu     sync.Mutex
	to     *httputil.ReverseProxy
	answer func(http.ResponseWriter, *http.Request) bool
}

func newFront(tb testing.TB) *Front {
	f := new(Front)
	f.Server = httptest.NewServer(f)
	tb.Cleanup(f.Close)
	return f
}

// pass sets where requests go. Their Host becomes the service's own.
func (f *Front) pass(to *url.URL) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
}

// Answer lets answer see requests before they are passed on; if it returns true, it has answered.
// Nil passes all on.
func (f *Front) Answer(answer func(http.ResponseWriter, *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// ServeHTTP implements [http.Handler].
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	to, answer := f.to, f.answer
	f.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	to.ServeHTTP(w, r)
}
