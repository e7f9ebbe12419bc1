package console_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/applink"
	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/console"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/serve"
)

func TestMain(m *testing.M) { nodetest.Main(m) }

// far is a node with an open door for apps, as other machines reach it.
type far struct {
	t    *testing.T
	node *node.Node
	door net.Listener
	pin  string
	run  atomic.Pointer[http.Handler]
}

func newFar(t *testing.T) *far {
	t.Helper()
	f := &far{t: t, node: nodetest.New(t, nodetest.Cheap)}
	home := t.TempDir()
	known, err := door.TLS(door.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if f.pin, err = door.Pin(door.Config{Home: home}); err != nil {
		t.Fatal(err)
	}
	if f.door, err = tls.Listen("tcp", "127.0.0.1:0", known); err != nil {
		t.Fatal(err)
	}
	f.begin()
	served := make(chan error, 1)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*f.run.Load()).ServeHTTP(w, r) }), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { served <- s.Serve(f.door) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return f
}

// begin begins another run of the daemon at the door for apps.
func (f *far) begin() {
	h := serve.New(serve.Options{Services: f.node.Services(), AppsAlone: true})
	f.run.Store(&h)
}

func (f *far) owner() *serve.Client {
	c := serve.InProcess(serve.New(serve.Options{Services: f.node.Services()}))
	f.t.Cleanup(c.Close)
	return c
}

// key adds an app that may open the console, or has the given rights.
func (f *far) key(name string, can ...serve.Right) applink.Link {
	f.t.Helper()
	r := serve.AppRequest{Name: name, Can: can, Types: []string{"semantic"}}
	if len(can) == 0 {
		r.Can, r.Types, r.Ends = []serve.Right{serve.RightConsole}, nil, time.Now().Add(time.Hour)
	}
	n, err := f.owner().AddApp(f.t.Context(), r)
	if err != nil {
		f.t.Fatal(err)
	}
	return applink.Link{Address: "https://" + f.door.Addr().String(), App: name, Key: string(n.Key), Pin: f.pin}
}

// near is a browser on another machine, at the console that a command serves there.
type near struct {
	t           *testing.T
	origin, key string
	cookie      *http.Cookie
}

func (f *far) open(to applink.Link) (*near, *console.Console) {
	f.t.Helper()
	page := console.New(console.Options{Listen: "127.0.0.1:0"})
	f.t.Cleanup(func() {
		if err := page.Close(); err != nil {
			f.t.Error(err)
		}
	})
	api, err := console.RemoteAPI(f.t.Context(), to, page.End)
	if err != nil {
		f.t.Fatal(err)
	}
	page.Serve(api)
	l, err := page.OpenConsole(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	u, err := url.Parse(l.URL)
	if err != nil || u.Hostname() != "127.0.0.1" {
		f.t.Fatal(l.URL, err)
	}
	n := &near{t: f.t, origin: "http://" + u.Host}
	code := `{"code": "` + strings.TrimPrefix(u.Fragment, "open=") + `"}`
	res, text := n.ask("POST", "/session", code, nil)
	var got struct{ Key string }
	if res.StatusCode != http.StatusOK || json.Unmarshal([]byte(text), &got) != nil {
		f.t.Fatal(res.Status, text)
	}
	n.cookie, n.key = res.Cookies()[0], got.Key
	if res, _ := n.ask("POST", "/session", code, nil); res.StatusCode != http.StatusForbidden {
		f.t.Errorf("the link is good twice: %s", res.Status)
	}
	return n, page
}

func (n *near) ask(method, path, body string, with func(*http.Request)) (*http.Response, string) {
	n.t.Helper()
	r, err := http.NewRequestWithContext(n.t.Context(), method, n.origin+path, bytes.NewBufferString(body))
	if err != nil {
		n.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", n.origin)
	r.Header.Set("Authorization", "Bearer lka_of-another") // it is not passed on
	if n.cookie != nil {
		r.AddCookie(n.cookie)
		r.Header.Set("Locket-Console", n.key)
	}
	if with != nil {
		with(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return res, string(text)
}

func (n *near) want(status int, method, path string, with func(*http.Request)) {
	n.t.Helper()
	if res, text := n.ask(method, path, "{}", with); res.StatusCode != status {
		n.t.Errorf("%s %s: %s, want %d: %s", method, path, res.Status, status, text)
	}
}

// The page on another machine does the same as on the node's own, with a key that has that
// right. What only the command may do is refused, and its use is in the log.
func TestConsoleOfAnotherMachine(t *testing.T) {
	f := newFar(t)
	b, _ := f.open(f.key("laptop"))
	if res, text := b.ask("POST", "/v1/memories", `{"text": "My sister lives in Lindau."}`, nil); res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, text)
	}
	b.want(http.StatusOK, "GET", "/v1/apps", nil)
	b.want(http.StatusOK, "GET", "/v1/status", nil)
	b.want(http.StatusOK, "GET", "/v1/status", nil)
	b.want(http.StatusForbidden, "GET", "/v1/export", nil)
	b.want(http.StatusOK, "GET", "/v1/vault/log", nil)
	// The log says what it changed, what it read of the vault, and what it was refused; of the
	// requests that only look, it has the first one.
	noted := func() (did []string) {
		t.Helper()
		log, err := f.owner().AppLog(t.Context(), "laptop", 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range log.Entries {
			if did = append(did, u.Did); (u.Refused != "") != (u.Did == "exportAll") {
				t.Errorf("%+v", u)
			}
		}
		return did
	}
	if got := noted(); !slices.Equal(got, []string{"vaultLog", "exportAll", "addMemory", "openConsole"}) {
		t.Error(got)
	}
	// Another key of the same name is logged separately.
	if _, err := f.owner().RevokeApp(t.Context(), "laptop"); err != nil {
		t.Fatal(err)
	}
	f.open(f.key("laptop"))
	if got := noted(); len(got) != 5 || got[0] != "openConsole" {
		t.Error(got)
	}
}

// Somebody who has stolen a key of the console gains nothing that outlasts it: among all
// routes, those are refused that decide how the home is opened, who has access and to what,
// what leaves it, and which files and programs of the node's machine it uses. So is any route
// that changes something and is not listed here.
func TestThreatStolenConsoleKey(t *testing.T) {
	f := newFar(t)
	b, _ := f.open(f.key("laptop"))
	everyday := []string{"lock", "pause", "resume", "syncNow", "addMemory", "updateMemory", "deleteMemory", "pinMemory", "unpinMemory", "search", "ask", "forget",
		"mergeEntities", "splitEntities", "undecideEntities", "settle", "unsettle", "planDream", "applyDream", "undoDream", "rescan", "retryParked", "runModel",
		"revert", "unlockVault", "revokeShare", "testPolicy"}
	outward := []string{"ways", "waitingApps", "pairWait", "exportAll", "listingFile", "orderFile", "givenKey", "follow"}
	known := 0
	for _, e := range serve.Endpoints() {
		if slices.Contains(everyday, e.ID) {
			known++
			continue
		}
		if e.Method == http.MethodGet && !slices.Contains(outward, e.ID) {
			continue
		}
		if res, text := b.ask(e.Method, e.Path, "{}", nil); res.StatusCode != http.StatusForbidden || !strings.Contains(text, "command") {
			t.Errorf("%s %s: %s %s", e.Method, e.Path, res.Status, text)
		}
	}
	if known != len(everyday) {
		t.Errorf("%d of %d operations are there", known, len(everyday))
	}
	// The ways that open the home are unchanged.
	if ways, err := f.owner().Ways(t.Context()); err != nil || !slices.Contains(ways.Ways, serve.WayPassphrase) {
		t.Errorf("%+v, %v", ways, err)
	}
	if res, text := b.ask("POST", "/v1/vault/unlock", "{}", nil); res.StatusCode != http.StatusForbidden || !strings.Contains(text, "open the vault without it") { // and so where a home has no passphrase
		t.Errorf("the vault: %s %s", res.Status, text)
	}
	b.want(http.StatusOK, "GET", "/v1/apps", nil) // the session continues
}

// A page on the node's own machine can't change who holds its keys or which third-party
// programs it runs: docs/console.md lists what only the command may do.
func TestThreatStolenSessionTakesHome(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	page := serve.New(serve.Options{Services: n.Services()})
	byCommand := []string{"setWay", "removeWay", "removeMember", "rotate", "recoverVault", "planPlugin", "installPlugin", "removePlugin", "unpinPlugin",
		"waitingApps", "openConsole"}
	for _, e := range serve.Endpoints() {
		if !slices.Contains(byCommand, e.ID) {
			continue
		}
		byCommand = slices.DeleteFunc(byCommand, func(id string) bool { return id == e.ID })
		r, err := http.NewRequestWithContext(serve.FromPage(t.Context()), e.Method, "http://localhost"+e.Path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if page.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("%s %s: %d %s", e.Method, e.Path, w.Code, w.Body)
		}
	}
	if len(byCommand) > 0 {
		t.Errorf("no operations: %v", byCommand)
	}
}

// A page can't pair a device without the passphrase, because a device keeps all memories for
// good.
func TestThreatStolenSessionPairs(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	handler := serve.New(serve.Options{Services: n.Services()})
	ask := func(ctx context.Context, body string) (int, string) {
		r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost/v1/pairing/confirm", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	page := serve.FromPage(t.Context())
	for _, body := range []string{`{"same":true}`, `{"same":true,"passphrase":"none of it"}`} {
		if code, said := ask(page, body); code != http.StatusForbidden || !strings.Contains(said, "passphrase") {
			t.Errorf("%s: %d %s", body, code, said)
		}
	}
	// Nothing is paired here, which is checked afterwards.
	for body, ctx := range map[string]context.Context{fmt.Sprintf(`{"same":true,"passphrase":%q}`, nodetest.Passphrase): page, `{"same":false}`: page, `{"same":true}`: t.Context()} {
		if code, said := ask(ctx, body); code != http.StatusConflict {
			t.Errorf("%s: %d %s", body, code, said)
		}
	}
}

// None of the following gets anything from a remote node: a caller without a key that has the
// right console, another machine's page, another name, a used link, a session that has ended.
func TestThreatConsoleFromElsewhere(t *testing.T) {
	f := newFar(t)
	ctx := t.Context()
	good := f.key("laptop")
	refused := func(what string, change func(*applink.Link)) {
		t.Helper()
		l := good
		change(&l)
		if _, err := console.RemoteAPI(ctx, l, func(error) {}); err == nil {
			t.Errorf("%s opens the console", what)
		}
	}
	refused("no key", func(l *applink.Link) { l.Key = "" })
	refused("a key that nobody has", func(l *applink.Link) { l.Key = "lka_AAAAAAAAAAAAAAAAAAAAAAAAAA" })
	refused("another machine in the node's place", func(l *applink.Link) { l.Pin = applink.Pin([]byte("another")) })
	refused("a certificate that nobody vouches for", func(l *applink.Link) { l.Pin = "" })
	reader := f.key("notes", serve.RightRead)
	refused("the key of an app", func(l *applink.Link) { l.Key = reader.Key })

	// Without the number of the run, the key opens only its own name.
	direct := &http.Client{Transport: &http.Transport{TLSClientConfig: func() *tls.Config { _, c, _ := good.Reach(); return c }()}}
	for path, want := range map[string]int{"/v1/self": http.StatusOK, "/v1/status": http.StatusUnauthorized, "/v1/memories": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(ctx, "GET", good.Address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+good.Key)
		res, err := direct.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("%s: %s", path, res.Status)
		}
	}

	b, _ := f.open(good)
	b.want(http.StatusOK, "GET", "/v1/status", nil)
	b.want(http.StatusUnauthorized, "GET", "/v1/status", func(r *http.Request) { r.Header.Del("Cookie") })
	b.want(http.StatusUnauthorized, "GET", "/v1/status", func(r *http.Request) { r.Header.Del("Locket-Console") })
	b.want(http.StatusForbidden, "GET", "/v1/status", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
	b.want(http.StatusForbidden, "POST", "/v1/pause", func(r *http.Request) { r.Header.Del("Origin") })
	b.want(http.StatusMisdirectedRequest, "GET", "/v1/status", func(r *http.Request) { r.Host = "evil.example:" + r.URL.Port() })
	b.want(http.StatusNotFound, "GET", "/mcp", func(r *http.Request) { r.URL.Path = "/mcp.x" })

	// A page of it can't make such a key, and the command can't make one that passes it on or
	// never expires.
	year := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	if res, text := b.ask("POST", "/v1/apps", `{"name": "more", "can": ["console"], "types": [], "ends": "`+year+`"}`, nil); res.StatusCode != http.StatusForbidden {
		t.Errorf("%s %s", res.Status, text)
	}
	for what, r := range map[string]serve.AppRequest{
		"no end":     {},
		"long":       {Ends: time.Now().Add(100 * 24 * time.Hour)},
		"passed on":  {Ends: time.Now().Add(time.Hour), Delegate: 1},
		"with more":  {Ends: time.Now().Add(time.Hour), Can: []serve.Right{serve.RightRead, serve.RightConsole}},
		"with types": {Ends: time.Now().Add(time.Hour), Types: []string{"semantic"}},
	} {
		r.Name = "more"
		if r.Can == nil {
			r.Can = []serve.Right{serve.RightConsole}
		}
		if _, err := f.owner().AddApp(ctx, r); err == nil {
			t.Errorf("a key %s", what)
		}
	}

	// It ends with the daemon's run, which a lock also ends, and with the key.
	again, _ := f.open(f.key("desk"))
	again.want(http.StatusOK, "GET", "/v1/status", nil)
	f.begin()
	again.want(http.StatusUnauthorized, "GET", "/v1/status", nil)
	b, page := f.open(good)
	b.want(http.StatusOK, "GET", "/v1/status", nil)
	if _, err := f.owner().RevokeApp(ctx, "laptop"); err != nil {
		t.Fatal(err)
	}
	b.want(http.StatusUnauthorized, "GET", "/v1/status", nil)
	if err := page.Wait(ctx); !errors.Is(err, console.ErrEnded) || !strings.Contains(err.Error(), "revoked") { // the command reports it
		t.Error(err)
	}
	refused("a key that was revoked", func(*applink.Link) {})
}

// A session on another machine ends when the node is locked, and does not continue when it is
// opened again; the command that serves it ends, too.
func TestThreatConsoleElsewhereEndsWithLock(t *testing.T) {
	f := newFar(t)
	key := f.key("desk")
	b, page := f.open(key)
	b.want(http.StatusOK, "GET", "/v1/status", nil)
	if _, err := f.owner().Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want(http.StatusUnauthorized, "GET", "/v1/status", nil)
	if err := page.Wait(t.Context()); !errors.Is(err, console.ErrEnded) || !strings.Contains(err.Error(), "locked") { // otherwise it would continue as long as a session does
		t.Error(err)
	}
	if _, err := console.RemoteAPI(t.Context(), key, func(error) {}); err == nil {
		t.Error("a locked node opens its console elsewhere")
	}
}
