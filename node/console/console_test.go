package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a console over an API that records its requests.
type bench struct {
	t      *testing.T
	c      *Console
	clock  *clock
	origin string
	code   string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	clock := &clock{now: time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)}
	c := New(Options{Listen: "127.0.0.1:0", Now: clock.time})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := c.OpenConsole(t.Context()); err == nil {
		t.Fatal("a link to a console without an API")
	}
	c.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" || r.Header.Get(keyHeader) != "" {
			t.Error("the API is told of the session")
		}
		if r.URL.Path == "/v1/live" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path)
	}))
	b := &bench{t: t, c: c, clock: clock}
	b.link()
	return b
}

func (b *bench) link() {
	b.t.Helper()
	l, err := b.c.OpenConsole(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	u, err := url.Parse(l.URL)
	if err != nil || u.Hostname() != "127.0.0.1" || u.RawQuery != "" || !l.Expires.Equal(b.clock.time().Add(codeTime)) {
		b.t.Fatalf("%+v, %v", l, err)
	}
	b.origin, b.code = u.Scheme+"://"+u.Host, strings.TrimPrefix(u.Fragment, "open=")
}

// ask makes a request, modified by with.
func (b *bench) ask(method, path, body string, with func(*http.Request)) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.origin+path, bytes.NewBufferString(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", b.origin)
	if with != nil {
		with(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res, string(text)
}

// begin exchanges the link's code for a session. It returns a function that adds the
// session's cookie and key to a request.
func (b *bench) begin() (in func(*http.Request), status int) {
	b.t.Helper()
	res, text := b.ask("POST", "/session", `{"code":"`+b.code+`"}`, nil)
	if res.StatusCode != http.StatusOK {
		return nil, res.StatusCode
	}
	var got begun
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Key == "" {
		b.t.Fatal(text, err)
	}
	cookie := res.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Domain != "" || strings.Contains(text, cookie.Value) {
		b.t.Fatalf("%+v %s", cookie, text)
	}
	return func(r *http.Request) {
		r.AddCookie(cookie)
		r.Header.Set(keyHeader, got.Key)
	}, res.StatusCode
}

func (b *bench) want(status int, method, path string, with func(*http.Request)) {
	b.t.Helper()
	if res, text := b.ask(method, path, "", with); res.StatusCode != status {
		b.t.Errorf("%s %s: %s, want %d: %s", method, path, res.Status, status, text)
	}
}

func TestLinkIsGoodOnce(t *testing.T) {
	b := newBench(t)
	in, status := b.begin()
	if status != http.StatusOK {
		t.Fatal(status)
	}
	b.want(http.StatusOK, "GET", "/v1/status", in)
	if _, status := b.begin(); status != http.StatusForbidden {
		t.Errorf("a code that was used: %d", status)
	}
	b.link()
	b.clock.pass(codeTime)
	if _, status := b.begin(); status != http.StatusForbidden {
		t.Errorf("a code that has expired: %d", status)
	}
	for _, body := range []string{"", "{}", `{"code":""}`, `{"code":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}`, "[", strings.Repeat("x", 2*maxCode)} {
		if res, _ := b.ask("POST", "/session", body, nil); res.StatusCode/100 != 4 {
			t.Errorf("%.40q: %s", body, res.Status)
		}
	}
}

func TestSessionEnds(t *testing.T) {
	b := newBench(t)
	in, _ := b.begin()
	for range 20 { // the session is in use
		b.clock.pass(idleTime - time.Second)
		b.want(http.StatusOK, "GET", "/v1/status", in)
	}
	b.clock.pass(idleTime)
	b.want(http.StatusUnauthorized, "GET", "/v1/status", in)

	b.link()
	in, _ = b.begin()
	for spent := time.Duration(0); spent < sessionTime-idleTime/2; spent += idleTime / 2 {
		b.want(http.StatusOK, "GET", "/v1/status", in)
		b.clock.pass(idleTime / 2)
	}
	b.clock.pass(idleTime / 2)
	b.want(http.StatusUnauthorized, "GET", "/v1/status", in)

	b.link()
	in, _ = b.begin()
	b.want(http.StatusNoContent, "DELETE", "/session", in)
	b.want(http.StatusUnauthorized, "GET", "/v1/status", in)
}

// The consoles of two homes are open in one browser, whose cookies ignore ports.
func TestTwoConsolesInOneBrowser(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	ask := func(b *bench, method, path, body, key string) (status int, text string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, b.origin+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", b.origin)
		r.Header.Set(keyHeader, key)
		res, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(got)
	}
	come := func(b *bench) (key string) {
		t.Helper()
		var got begun
		if status, text := ask(b, "POST", "/session", `{"code":"`+b.code+`"}`, ""); status != http.StatusOK || json.Unmarshal([]byte(text), &got) != nil {
			t.Fatal(status, text)
		}
		return got.Key
	}
	one, two := newBench(t), newBench(t)
	first := come(one)
	second := come(two)
	if status, _ := ask(one, "GET", "/v1/status", "", first); status != http.StatusOK {
		t.Errorf("the first console after the second was opened: %d", status)
	}
	if status, _ := ask(two, "DELETE", "/session", "", second); status != http.StatusNoContent {
		t.Error(status)
	}
	if status, _ := ask(one, "GET", "/v1/status", "", first); status != http.StatusOK {
		t.Errorf("the first console after the second was left: %d", status)
	}
	if status, _ := ask(one, "GET", "/v1/status", "", second); status != http.StatusUnauthorized {
		t.Errorf("the key of another console: %d", status)
	}
}

// Watching alone does not keep a session alive, and ends with it.
func TestStreamEndsWithItsSession(t *testing.T) {
	b := newBench(t)
	in, _ := b.begin()
	r, err := http.NewRequestWithContext(t.Context(), "GET", b.origin+"/v1/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	in(r)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b.want(http.StatusNoContent, "DELETE", "/session", in)
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Error(err)
	}
}

// Requests that lack half of the session, use another name or come from another page
// get nothing from any route.
func TestRequestsWithoutASession(t *testing.T) {
	b := newBench(t)
	in, _ := b.begin()
	half := func(drop string) func(*http.Request) {
		return func(r *http.Request) { in(r); r.Header.Del(drop) }
	}
	for _, e := range serve.Endpoints() {
		path := strings.NewReplacer("{", "", "}", "").Replace(e.Path)
		if !strings.HasPrefix(path, "/v1/") {
			continue
		}
		b.want(http.StatusUnauthorized, e.Method, path, nil)
		b.want(http.StatusUnauthorized, e.Method, path, half("Cookie"))
		b.want(http.StatusUnauthorized, e.Method, path, half(keyHeader))
		b.want(http.StatusForbidden, e.Method, path, func(r *http.Request) { in(r); r.Header.Set("Origin", "http://127.0.0.1:1") })
		b.want(http.StatusForbidden, e.Method, path, func(r *http.Request) { in(r); r.Header.Set("Origin", "null") })
		b.want(http.StatusMisdirectedRequest, e.Method, path, func(r *http.Request) { in(r); r.Host = "evil.example:" + r.URL.Port() })
		b.want(http.StatusMisdirectedRequest, e.Method, path, func(r *http.Request) { in(r); r.Host = "localhost:" + r.URL.Port() })
		if e.Method != http.MethodGet {
			b.want(http.StatusForbidden, e.Method, path, func(r *http.Request) { in(r); r.Header.Del("Origin") })
		}
	}
	b.want(http.StatusMethodNotAllowed, "POST", "/", in)
	b.want(http.StatusNotFound, "GET", "/none.js", nil)
}

// A session can't make another session, and can't see the codes with which apps are
// given access.
func TestSessionCannotMakeASession(t *testing.T) {
	b := newBench(t)
	b.c.Serve(serve.New(serve.Options{}))
	in, _ := b.begin()
	kept := 0
	for _, e := range serve.Endpoints() {
		if e.Needs == serve.RightCommand {
			kept++
			b.want(http.StatusForbidden, e.Method, e.Path, in)
			b.want(http.StatusForbidden, e.Method, "/v1/%"+fmt.Sprintf("%x", e.Path[4])+e.Path[5:], in)
		}
	}
	if kept < 2 {
		t.Errorf("%d routes are kept from a page", kept)
	}
	b.want(http.StatusNotImplemented, "GET", "/v1/apps", in) // the handler has no services
}

func TestPageHeaders(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/", "/day/2026-09-14", "/memory/x", "/console.js", "/console.css", "/icon.svg"} {
		res, text := b.ask("GET", path, "", nil)
		h := res.Header
		if res.StatusCode != http.StatusOK || text == "" {
			t.Fatalf("%s: %s", path, res.Status)
		}
		csp := h.Get("Content-Security-Policy")
		if strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") ||
			h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
	if err := b.c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.c.OpenConsole(t.Context()); err == nil {
		t.Error("a link to a console that is closed")
	}
}

// A link makes the node read what the first page shows, before a browser asks. Close
// ends a read that takes long.
func TestLinkPreloadsTheFirstPage(t *testing.T) {
	asked, ended := make(chan string, 1), make(chan struct{})
	c := New(Options{Listen: "127.0.0.1:0"})
	c.Serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		<-r.Context().Done()
		close(ended)
	}))
	for range 3 {
		if _, err := c.OpenConsole(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if path := <-asked; path != "/v1/status" {
		t.Error(path)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// The page's answer names the file with the texts that the browser will need, and
// the file exists.
func TestTranslationsArePreloaded(t *testing.T) {
	b := newBench(t)
	for accepts, want := range map[string]string{"": "en", "zh-CN,zh;q=0.9,en;q=0.8": "zh", "de-DE, de;q=0.9, zh-TW;q=0.8": "zh", "fr,en-GB;q=0.5": "en", "fr": "en"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.origin+"/day/2026-09-14", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Language", accepts)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		path, ok := strings.CutSuffix(strings.TrimPrefix(res.Header.Get("Link"), "<"), ">; rel=modulepreload")
		if !ok || !strings.HasPrefix(path, "/words."+want+"-") {
			t.Errorf("%q: %s", accepts, res.Header.Get("Link"))
		}
		if res, text := b.ask("GET", path, "", nil); res.StatusCode != http.StatusOK || res.Header.Get("Link") != "" || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/javascript") || text == "" {
			t.Errorf("%s: %s, %v", path, res.Status, res.Header)
		}
	}
}
