package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// plain is a host of the protocol of 2025-11-25 that sends each request exactly as a test
// writes it.
type plain struct {
	*house
	t       *testing.T
	key     serve.Secret
	session string
}

func (p *plain) send(ctx context.Context, method, body string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, p.url+"/mcp", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + string(p.key), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": p.session} {
		if v != "" {
			r.Header.Set(k, v)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	return res
}

// ask returns the status and the whole body.
func (p *plain) ask(method, body string) (status int, answer string) {
	p.t.Helper()
	res := p.send(p.t.Context(), method, body)
	b, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func (p *plain) begin() {
	p.t.Helper()
	p.session = ""
	res := p.send(p.t.Context(), "POST", initialize)
	if p.session = res.Header.Get("Mcp-Session-Id"); p.session == "" {
		p.t.Fatalf("%s: no session", res.Status)
	}
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	listTools   = `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
)

const followCore = `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"memory://core"}}`

// Only an initialize that is answered with a result begins a session. If a failed one did, it
// would end an older session of the app, since their number is limited.
func TestFailedInitializeMakesNoSession(t *testing.T) {
	h := newHouse(t)
	p := &plain{house: h, t: t, key: h.app(t, "one", "core")}
	for name, body := range map[string]string{
		"params of another type": strings.Replace(initialize, `"2025-11-25"`, `7`, 1),
		"no params":              `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
		"no id":                  strings.Replace(initialize, `"id":1,`, ``, 1),
		"no JSON-RPC":            strings.Replace(initialize, `"2.0"`, `"1.0"`, 1),
		"an id that is cut":      strings.Replace(initialize, `"id":1`, `"id":1.5`, 1),
		"a batch":                "[" + initialize + "]",
	} {
		res := p.send(t.Context(), "POST", body)
		if id := res.Header.Get("Mcp-Session-Id"); id != "" {
			t.Errorf("%s: %s and a session", name, res.Status)
		}
	}
	p.begin()
}

// A session of an earlier protocol belongs to its app, has one stream, and ends with it: later
// requests are answered so that the host starts a new session. Other requests need no session.
func TestSessionEndsWithItsStream(t *testing.T) {
	h := newHouse(t)
	h.add(t, core("Maja is a nurse"))
	p := &plain{house: h, t: t, key: h.app(t, "one", "semantic", "core")}
	if status, body := p.ask("POST", followCore); status != http.StatusBadRequest {
		t.Errorf("without a session: %d %s", status, body)
	}
	if status, body := p.ask("GET", ""); status != http.StatusBadRequest {
		t.Errorf("a stream without a session: %d %s", status, body)
	}
	p.begin()
	other := &plain{house: h, t: t, key: h.app(t, "other", "core"), session: p.session}
	for _, method := range []string{"GET", "DELETE"} {
		if status, body := other.ask(method, ""); status != http.StatusNotFound {
			t.Errorf("another app's session: %s: %d %s", method, status, body)
		}
	}
	ctx, hangUp := context.WithCancel(t.Context())
	stream := p.send(ctx, "GET", "")
	if stream.StatusCode != http.StatusOK {
		t.Fatal(stream.Status)
	}
	if status, body := p.ask("GET", ""); status != http.StatusConflict {
		t.Errorf("a second stream: %d %s", status, body)
	}
	if status, body := p.ask("POST", followCore); status != http.StatusOK || !strings.Contains(body, `"result":{}`) {
		t.Errorf("%d %s", status, body)
	}
	h.add(t, core("Maja swims"))
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"method":"notifications/resources/updated"`) {
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	hangUp()
	for { // until the node has seen it
		status, body := p.ask("GET", "")
		if status == http.StatusNotFound {
			break
		}
		if status != http.StatusConflict {
			t.Fatalf("%d %s", status, body)
		}
	}
	for _, body := range []string{followCore, listTools, initialized} {
		if status, said := p.ask("POST", body); status != http.StatusNotFound || !strings.Contains(said, `"code":-32001`) {
			t.Errorf("%s of a session that ended: %d %s", body, status, said)
		}
	}
	p.session = ""
	if status, body := p.ask("POST", listTools); status != http.StatusOK || !strings.Contains(body, "search_memories") {
		t.Errorf("a request by itself: %d %s", status, body)
	}
}

// A session whose host opens no stream is valid for every other request, for its app alone. An
// initialize that names an ended session begins another one.
func TestSessionWithoutStream(t *testing.T) {
	h := newHouse(t)
	p := &plain{house: h, t: t, key: h.app(t, "one", "core")}
	p.begin()
	if status, body := p.ask("POST", initialized); status != http.StatusAccepted {
		t.Errorf("%d %s", status, body)
	}
	for range 2 {
		if status, body := p.ask("POST", listTools); status != http.StatusOK || !strings.Contains(body, "search_memories") {
			t.Errorf("%d %s", status, body)
		}
	}
	other := &plain{house: h, t: t, key: h.app(t, "other", "core"), session: p.session}
	if status, body := other.ask("POST", listTools); status != http.StatusNotFound {
		t.Errorf("another app's: %d %s", status, body)
	}
	if status, body := p.ask("DELETE", ""); status != http.StatusNoContent {
		t.Errorf("%d %s", status, body)
	}
	if status, body := p.ask("POST", listTools); status != http.StatusNotFound {
		t.Errorf("deleted: %d %s", status, body)
	}
	res := p.send(t.Context(), "POST", initialize)
	if p.session = res.Header.Get("Mcp-Session-Id"); res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	if status, body := p.ask("POST", listTools); status != http.StatusOK {
		t.Errorf("begun anew: %d %s", status, body)
	}
}

// A session that followed nothing outlives its stream, which proxies cut when it is idle: its
// host can go on sending requests, and may open another stream.
func TestSessionWithoutSubscriptionSurvives(t *testing.T) {
	h := newHouse(t)
	p := &plain{house: h, t: t, key: h.app(t, "one", "core")}
	p.begin()
	for range 2 {
		ctx, hangUp := context.WithCancel(t.Context())
		status := http.StatusConflict
		for status == http.StatusConflict { // until the node has seen that the previous one is gone
			status = p.send(ctx, "GET", "").StatusCode
		}
		if status != http.StatusOK {
			t.Fatal(status)
		}
		hangUp()
		if status, body := p.ask("POST", listTools); status != http.StatusOK {
			t.Errorf("%d %s", status, body)
		}
	}
	for status := http.StatusConflict; status != http.StatusOK; {
		res := p.send(t.Context(), "GET", "")
		if status = res.StatusCode; status == http.StatusNotFound {
			t.Fatal("the session is gone: status 404, want 200")
		}
	}
	if status, body := p.ask("POST", followCore); status != http.StatusOK || !strings.Contains(body, `"result":{}`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := p.ask("DELETE", ""); status != http.StatusNoContent {
		t.Errorf("%d %s", status, body)
	}
	if status, body := p.ask("POST", listTools); status != http.StatusNotFound {
		t.Errorf("deleted: %d %s", status, body)
	}
}

// The official SDK's client is told that its session is gone, in the way that it understands.
func TestSessionMissing(t *testing.T) {
	h := newHouse(t)
	key := h.app(t, "one", "core")
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	on, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{string(key)}}, DisableStandaloneSSE: true},
		&sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	if _, err := on.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	p := &plain{house: h, t: t, key: key, session: on.ID()}
	if status, body := p.ask("DELETE", ""); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	if _, err := on.ListTools(t.Context(), nil); !errors.Is(err, sdk.ErrSessionMissing) {
		t.Error(err)
	}
}

// A stream ends when its host deletes the session, and with the key.
func TestSessionIsEnded(t *testing.T) {
	h := newHouse(t)
	p := &plain{house: h, t: t, key: h.app(t, "one", "core")}
	for name, end := range map[string]func(){
		"deleted": func() {
			if status, body := p.ask("DELETE", ""); status != http.StatusNoContent {
				t.Errorf("%d %s", status, body)
			}
		},
		"revoked": func() {
			if _, err := h.owner.RevokeApp(t.Context(), "one"); err != nil {
				t.Error(err)
			}
			p.key = h.app(t, "one", "core")
		},
	} {
		p.begin()
		stream := p.send(t.Context(), "GET", "")
		if status, body := p.ask("POST", followCore); status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, body)
		}
		end()
		if b, err := io.ReadAll(stream.Body); err != nil || strings.Contains(string(b), "updated") {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
		for status := 0; status != http.StatusNotFound; status, _ = p.ask("POST", followCore) {
		}
	}
}

// A stream ends when the node can no longer report changes of what is followed, so that no host
// believes that it still follows. It stays open when a host stops following, or can't follow.
func TestSessionEndsWithItsSubscriptions(t *testing.T) {
	h := newHouse(t)
	h.add(t, core("Maja is a nurse"))
	p := &plain{house: h, t: t, key: h.app(t, "one", "core")}
	p.begin()
	stream := p.send(t.Context(), "GET", "")
	for _, c := range []struct{ method, uri, says string }{
		{"subscribe", "memory://core", `"result":{}`},
		{"subscribe", "memory://day/2026-03-01", `"result":{}`},
		{"unsubscribe", "memory://day/2026-03-01", `"result":{}`},
		{"subscribe", "memory://day/yesterday", `"error"`},
		{"subscribe", "memory://" + strings.Repeat("0", 26), `"error"`},
	} {
		body := `{"jsonrpc":"2.0","id":4,"method":"resources/` + c.method + `","params":{"uri":"` + c.uri + `"}}`
		if status, said := p.ask("POST", body); !strings.Contains(said, c.says) {
			t.Errorf("%s: %d %s", body, status, said)
		}
	}
	h.add(t, core("Maja swims"))
	lines := bufio.NewScanner(stream.Body)
	for !strings.Contains(lines.Text(), `"method":"notifications/resources/updated"`) {
		if !lines.Scan() {
			t.Fatalf("it ended before: %v", lines.Err())
		}
	}
	if _, err := h.owner.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until it ends
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	if _, err := h.owner.Unlock(t.Context(), nodetest.Passphrase); err != nil {
		t.Fatal(err)
	}
	if status, body := p.ask("POST", listTools); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
}

// An app that begins sessions and never ends them keeps the newest, and takes nothing away from
// other apps.
func TestSessionsAreBounded(t *testing.T) {
	h := newHouse(t)
	first := &plain{house: h, t: t, key: h.app(t, "other", "core")}
	first.begin()
	p := &plain{house: h, t: t, key: h.app(t, "many", "core")}
	p.begin()
	stream := p.send(t.Context(), "GET", "") // the oldest, with an open stream
	held, early := p.session, [2]string{}
	for i := range 65 {
		p.begin()
		newest := p.session
		if i < len(early) {
			early[i] = newest
		}
		if p.session = early[0]; i == 1 || i == 60 { // its host sends a request now and then, and opens no stream
			if status, body := p.ask("POST", listTools); status != http.StatusOK {
				t.Errorf("%d: the one that is used: %d %s", i, status, body)
			}
		}
	}
	for i, want := range []int{http.StatusOK, http.StatusNotFound} {
		p.session = early[i]
		if status, body := p.ask("POST", listTools); status != want {
			t.Errorf("%d: %d %s", i, status, body)
		}
	}
	p.session = held
	if status, body := p.ask("POST", followCore); stream.StatusCode != http.StatusOK || status != http.StatusOK {
		t.Errorf("%s, the open one: %d %s", stream.Status, status, body)
	}
	if res := first.send(t.Context(), "GET", ""); res.StatusCode != http.StatusOK {
		t.Errorf("another app's: %s", res.Status)
	}
}
