package oauth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/oauth"
	"github.com/locket-dev/locket/node/serve"
)

// Nobody is redirected anywhere but to an address that the client has registered, exactly,
// and not before the wearer has pressed a button.
func TestThreatOpenRedirect(t *testing.T) {
	b := newBench(t)
	const loop = "http://127.0.0.1:1234/cb?x=1"
	id, fault := b.register(registered(back, loop))
	if id == "" {
		t.Fatal(fault)
	}
	for uri, good := range map[string]bool{
		back: true, loop: true, "http://127.0.0.1:999/cb?x=1": true, "http://127.0.0.1/cb?x=1": true,
		back + "/": false, back + "?x": false, back + "/../x": false, "https://assistant.example:444/callback": false, "https://assistant.example.evil.example/callback": false,
		"https://assistant.example@evil.example/callback": false, "https://evil.example/callback": false, "http://assistant.example/callback": false,
		"https://127.0.0.1:1234/cb?x=1": false, "http://127.0.0.1:1234/cb": false, "http://localhost:1234/cb?x=1": false, "http://127.0.0.1:1234@evil.example/cb?x=1": false,
		"http://127.0.0.1.evil.example:1/cb?x=1": false, "//assistant.example/callback": false, "": false,
	} {
		res, _ := b.ask("GET", "/oauth/authorize?"+query(id, "redirect_uri", uri).Encode(), nil)
		if (res.StatusCode == http.StatusOK) != good || res.Header.Get("Location") != "" {
			t.Errorf("%q: %s", uri, res.Status)
		}
	}
	// Errors of the request are not sent there, either.
	if res, _ := b.ask("GET", "/oauth/authorize?"+query(id, "scope", "nothing").Encode(), nil); res.StatusCode != http.StatusBadRequest || res.Header.Get("Location") != "" {
		t.Errorf("%s %v", res.Status, res.Header)
	}
}

// A leaked code opens nothing: it needs the client's verifier, is for one client and one
// address, and is valid once and for a minute. If two clients have everything, neither
// keeps the key.
func TestThreatLeakedCode(t *testing.T) {
	b := newBench(t)
	id, _ := b.register(registered(back))
	other, _ := b.register(strings.Replace(registered(back), "Assistant", "Other", 1))
	code := b.agree(b.open(query(id)))
	for _, wrong := range [][]string{
		{"code_verifier", strings.Repeat("x", 43)}, {"code_verifier", ""}, {"code_verifier", challenge}, {"client_id", other}, {"client_id", ""},
		{"redirect_uri", back + "/"}, {"redirect_uri", ""}, {"code", code + "A"}, {"code", ""}, {"resource", "https://else.example/mcp"}, {"grant_type", "refresh_token"},
	} {
		if key, fault := b.exchange(id, code, wrong...); key != "" || fault == "" {
			t.Errorf("%v: %q", wrong, fault)
		}
	}
	if key, fault := b.exchange(other, code); key != "" || fault != "invalid_grant" {
		t.Errorf("another client's: %q", fault)
	}
	key, fault := b.exchange(id, code, "resource", b.url+"/mcp")
	if key == "" || !b.works(key) {
		t.Fatal(fault)
	}
	if again, fault := b.exchange(id, code, "code_verifier", strings.Repeat("x", 43)); again != "" || fault != "invalid_grant" || !b.works(key) {
		t.Errorf("who has the code alone ends the key: %q", fault)
	}
	if again, fault := b.exchange(id, code); again != "" || fault != "invalid_grant" || b.works(key) {
		t.Errorf("a second time: %q", fault)
	}
	code = b.agree(b.open(query(id)))
	b.pass(time.Minute)
	if key, fault := b.exchange(id, code); key != "" || fault != "invalid_grant" {
		t.Errorf("after a minute: %q", fault)
	}
}

// held is a book that waits before it ends a key.
type held struct {
	oauth.Book
	began, end chan struct{}
}

func (h held) RevokeApp(ctx context.Context, name string) (serve.App, error) {
	close(h.began)
	<-h.end
	return h.Book.RevokeApp(ctx, name)
}

// A client that presents a used code holds up nobody else while the key's requests end.
func TestUsedCodeBlocksNoOther(t *testing.T) {
	h := held{began: make(chan struct{}), end: make(chan struct{})}
	b := newBench(t, func(book oauth.Book) oauth.Book {
		h.Book = book
		return h
	})
	id, _ := b.register(registered(back))
	code := b.agree(b.open(query(id)))
	key, _ := b.exchange(id, code)
	var replays sync.WaitGroup
	replays.Go(func() {
		if again, fault := b.exchange(id, code); again != "" || fault != "invalid_grant" {
			t.Errorf("a second time: %q", fault)
		}
	})
	<-h.began
	if list, err := b.owner.WaitingApps(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	if other, fault := b.exchange(id, "other"); other != "" || fault != "invalid_grant" {
		t.Error(fault)
	}
	close(h.end)
	replays.Wait()
	if b.works(key) {
		t.Error("the key opens the node")
	}
}

// A used code ends the key that was made from it, and no later one of the same name.
func TestUsedCodeRevokesOnlyItsKey(t *testing.T) {
	b := newBench(t)
	id, _ := b.register(registered(back))
	code := b.agree(b.open(query(id)))
	first, _ := b.exchange(id, code)
	if _, err := b.owner.RevokeApp(t.Context(), "assistant"); err != nil {
		t.Fatal(err)
	}
	later, fault := b.exchange(id, b.agree(b.open(query(id))))
	if later == "" || b.works(first) {
		t.Fatal(fault)
	}
	if again, fault := b.exchange(id, code); again != "" || fault != "invalid_grant" || !b.works(later) {
		t.Errorf("the used code revoked the later app's key, or was not refused: %q", fault)
	}
}

// No page can press the button in the wearer's place: it lacks the code that the command
// shows, and has another origin; and the consent page can't be framed.
func TestThreatForgedConsent(t *testing.T) {
	b := newBench(t)
	id, _ := b.register(registered(back))
	res, _ := b.ask("GET", "/oauth/authorize?"+query(id).Encode(), nil)
	csp := res.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "form-action 'self' https://assistant.example;") || strings.Contains(csp, "unsafe") ||
		strings.Contains(csp, "script-src") || res.Header.Get("X-Frame-Options") != "DENY" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", res.Header)
	}
	form := b.open(query(id))
	form.Set("code", b.code())
	for _, from := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		if res, _ := b.ask("POST", "/oauth/authorize", form, from...); res.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %s", from, res.Status)
		}
	}
	if res, _ := b.ask("GET", "/oauth/authorize?"+form.Encode(), nil); res.StatusCode == http.StatusSeeOther {
		t.Error("a link agrees")
	}
	// A request that somebody else began has another code.
	second := b.open(query(id, "state", "s2"))
	second.Set("code", form.Get("code"))
	if res, _ := b.ask("POST", "/oauth/authorize", second); res.StatusCode != http.StatusForbidden {
		t.Errorf("the code of another request: %s", res.Status)
	}
	for n, code := range []string{"", "AAAA-AAAA", "x", strings.Repeat("A", 500)} {
		second.Set("code", code)
		res, _ := b.ask("POST", "/oauth/authorize", second)
		if last := n == 3; res.StatusCode != http.StatusForbidden || len(handles.FindString(b.page(second))) > 0 == last {
			t.Errorf("%d: %q: %s", n, code, res.Status)
		}
	}
	second.Set("code", b.code())
	if res, _ := b.ask("POST", "/oauth/authorize", second); res.StatusCode != http.StatusGone {
		t.Errorf("after five wrong codes: %s", res.Status)
	}
	// No more is granted than was asked for, whatever the form contains.
	form["can"] = []string{"read", "update", "chat", "owner"}
	key, fault := b.exchange(id, b.agree(form))
	if key == "" {
		t.Fatal(fault)
	}
	if apps, err := b.owner.Apps(t.Context()); err != nil || len(apps) != 1 || len(apps[0].Can) != 1 || apps[0].Can[0] != serve.RightRead {
		t.Errorf("%+v, %v", apps, err)
	}
	// The name of an admitted app can't be taken.
	form = b.open(query(id))
	form.Set("code", b.code())
	if res, text := b.ask("POST", "/oauth/authorize", form); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "there is an app assistant") {
		t.Errorf("%s %s", res.Status, text)
	}
}

// page returns the answer to a form that can't be read: the page again, as long as the
// request exists.
func (b *bench) page(form url.Values) string {
	b.t.Helper()
	_, text := b.ask("POST", "/oauth/authorize", url.Values{"request": form["request"], "decision": {"allow"}})
	return text
}

// Registering leaves nothing behind, and opening pages without end does not push out the
// pages of others.
func TestThreatRegistrationFlood(t *testing.T) {
	b := newBench(t)
	id, _ := b.register(registered(back))
	for range 2000 {
		if again, fault := b.register(registered(back)); again != id {
			t.Fatalf("a client's id has more in it than what it said of itself: %s", fault)
		}
	}
	o := oauth.New(oauth.Config{Book: fixed{}})
	w := httptest.NewRecorder()
	o.ServeHTTP(w, httptest.NewRequest("POST", "/oauth/register", strings.NewReader(registered(back))))
	var known struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &known); err != nil {
		t.Fatal(err)
	}
	open := func(from string) {
		t.Helper()
		r := httptest.NewRequest("GET", "/oauth/authorize?"+query(known.ID).Encode(), nil)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		if o.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
	}
	open("192.0.2.1:1")
	first, err := o.WaitingApps(t.Context())
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	for n := range 40 { // many addresses, one of which misbehaves more
		for range 20 {
			open(fmt.Sprintf("192.0.2.%d:2", 10+n))
			open("192.0.2.9:3")
		}
	}
	list, err := o.WaitingApps(t.Context())
	if err != nil || len(list) != 64 || list[63].Code != first[0].Code {
		t.Errorf("%d wait, and the first is not among them: %v", len(list), err)
	}
}

// A page of another site that uses the address as an image, script or frame takes up no
// place, and so does not push out the request that the wearer is looking at.
func TestConsentPageIsANavigation(t *testing.T) {
	b := newBench(t)
	id, _ := b.register(registered(back))
	form := b.open(query(id))
	for _, as := range []string{"image", "script", "iframe", "empty"} {
		for range 8 {
			if res, text := b.ask("GET", "/oauth/authorize?"+query(id).Encode(), nil, "Sec-Fetch-Dest", as); res.StatusCode != http.StatusForbidden || strings.Contains(text, "<form") {
				t.Errorf("%s: %s", as, res.Status)
			}
		}
	}
	if key, fault := b.exchange(id, b.agree(form)); key == "" {
		t.Error(fault)
	}
	if res, _ := b.ask("GET", "/oauth/authorize?"+query(id).Encode(), nil, "Sec-Fetch-Dest", "document"); res.StatusCode != http.StatusOK {
		t.Error(res.Status)
	}
}

// fixed is a book without apps.
type fixed struct{ oauth.Book }

func (fixed) ClientKey(context.Context) ([]byte, error) { return make([]byte, 32), nil }

func (fixed) Apps(context.Context) ([]serve.App, error) { return nil, nil }
