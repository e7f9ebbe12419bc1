package mcp_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/serve"
)

// house is a node that is served over HTTP, and its owner.
type house struct {
	url   string
	owner *serve.Client
}

func newHouse(t *testing.T) *house {
	t.Helper()
	api := serve.New(serve.Options{Services: nodetest.New(t, nodetest.Cheap).Services(), ForApps: func(api http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/mcp": {Handler: mcp.Handler(api, "test")}}
	}})
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return &house{server.URL, serve.Dial("tcp", strings.TrimPrefix(server.URL, "http://"), "")}
}

func (h *house) add(t *testing.T, r serve.AddRequest) memory.ID {
	t.Helper()
	infer := false
	r.Infer = &infer
	res, err := h.owner.Add(t.Context(), r)
	if err != nil || len(res.Changes) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Changes[0].Memory
}

// host is a client of the official SDK that notes what it is notified of.
type host struct {
	*sdk.ClientSession
	told   chan string // resources that have changed
	agreed chan bool   // what it asked to be notified of is confirmed
}

// ways lists the connections that a host can use, each with the protocol's version.
var ways = [][2]string{{"pipe", "2025-11-25"}, {"pipe", "2026-07-28"}, {"http", "2025-06-18"}, {"http", "2025-11-25"}, {"http", "2026-07-28"}}

// enter admits an app that sees some types.
func (h *house) enter(t *testing.T, name string, way [2]string, types ...string) *host {
	t.Helper()
	key := h.app(t, name, types...)
	out := &host{told: make(chan string, 100), agreed: make(chan bool, 100)}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		out.told <- r.Params.URI
	}})
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				out.agreed <- true
			}
			return next(ctx, method, r)
		}
	})
	var over sdk.Transport = &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{string(key)}}, MaxRetries: -1}
	if way[0] == "pipe" {
		here, there := sdk.NewInMemoryTransports()
		over = here
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- mcp.Run(ctx, h.owner.WithKey(key), "test", there) }()
		t.Cleanup(func() {
			cancel()
			<-done
		})
	}
	var err error
	if out.ClientSession, err = client.Connect(t.Context(), over, &sdk.ClientSessionOptions{ProtocolVersion: way[1]}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	if got := out.InitializeResult().ProtocolVersion; got != way[1] {
		t.Fatalf("%s, want %s", got, way[1])
	}
	return out
}

func (h *house) app(t *testing.T, name string, types ...string) serve.Secret {
	t.Helper()
	app, err := h.owner.AddApp(t.Context(), serve.AppRequest{Name: name, Can: []serve.Right{serve.RightRead}, Types: types, Requests: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return app.Key
}

// follow returns once a host follows the changes of a resource.
func (h *host) follow(t *testing.T, uri string) {
	t.Helper()
	if err := h.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	if h.InitializeResult().ProtocolVersion >= "2026-07-28" { // the SDK's client does not wait
		<-h.agreed
	}
}

// until waits for a notification about a resource.
func (h *host) until(uri string) {
	for <-h.told != uri {
	}
}

func (h *house) update(t *testing.T, id memory.ID, text string) {
	t.Helper()
	if _, err := h.owner.Update(t.Context(), id.String(), serve.UpdateRequest{Text: &text}); err != nil {
		t.Fatal(err)
	}
}

func core(text string) serve.AddRequest {
	return serve.AddRequest{Text: text, Type: memory.Core, Fields: memory.Fields{Core: &memory.CoreFields{Block: "human", Limit: 2000}}}
}

// A host that follows resources is notified when they change or go, by the official
// SDK's client over both protocols, and of nothing that its app may not see.
func TestSubscriptions(t *testing.T) {
	for _, way := range ways {
		t.Run(way[0]+" "+way[1], func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			id := h.add(t, serve.AddRequest{Text: "The red kayak lies in Lindau"})
			kayak, today := "memory://"+id.String(), "memory://day/"+nodetest.Today(t)
			all, some := h.enter(t, "all", way, "semantic", "core"), h.enter(t, "some", way, "semantic")
			if c := all.InitializeResult().Capabilities.Resources; !c.Subscribe || c.ListChanged {
				t.Errorf("%+v", c)
			}
			for _, uri := range []string{kayak, "memory://core", today} {
				all.follow(t, uri)
			}
			some.follow(t, today)
			some.follow(t, "memory://core")
			nurse := h.add(t, core("Maja is a nurse"))
			all.until("memory://core")
			for _, text := range []string{"Maja is a doctor", "Maja is a surgeon"} {
				h.update(t, nurse, text)
				all.until("memory://core")
			}
			h.update(t, id, "The red kayak lies in Bregenz")
			all.until(kayak)
			some.until(today)
			if len(some.told) > 0 {
				t.Errorf("an app is told of what it may not see: %s", <-some.told)
			}
			if r, err := some.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: today}); err != nil || !strings.Contains(r.Contents[0].Text, "Bregenz") || strings.Contains(r.Contents[0].Text, "Maja") {
				t.Errorf("%+v, %v", r, err)
			}
			if err := some.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: today}); err != nil {
				t.Error(err)
			}

			// When a resource goes, there is one more notification.
			if _, err := h.owner.Delete(t.Context(), id.String()); err != nil {
				t.Fatal(err)
			}
			all.until(kayak)
			if r, err := all.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: kayak}); err == nil {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What does not exist for an app can't be followed, and a host can't follow more than
// the limit.
func TestSubscriptionsRefused(t *testing.T) {
	h := newHouse(t)
	nurse := h.add(t, core("Maja is a nurse"))
	some := h.enter(t, "some", ways[0], "semantic")
	for _, uri := range []string{"memory://" + nurse.String(), "memory://" + strings.Repeat("0", 26), "memory://day/yesterday", "memory://a", "memory://", "https://example.org/"} {
		if err := some.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%s is followed", uri)
		}
	}
	for i := range 13 {
		err := some.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "memory://day/" + time.Unix(0, 0).AddDate(0, 0, i).Format(time.DateOnly)})
		if (err != nil) != (i == 12) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := some.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "memory://day/1970-01-01"}); err != nil {
		t.Errorf("again: %v", err)
	}
}

// A stream of what changes ends with the app's key.
func TestSubscriptionEndsWithKey(t *testing.T) {
	h := newHouse(t)
	key := h.app(t, "reader", "semantic")
	body := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["memory://core"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(t.Context(), "POST", h.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + string(key), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "notifications/subscriptions/acknowledged") {
		if !strings.HasPrefix(lines.Text(), "event:") && lines.Text() != "" {
			t.Fatal(lines.Text())
		}
	}
	if _, err := h.owner.RevokeApp(t.Context(), "reader"); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until it ends
		if strings.Contains(lines.Text(), "notifications/resources/updated") {
			t.Error(lines.Text())
		}
	}
}
