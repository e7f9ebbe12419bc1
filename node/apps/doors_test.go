package apps_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/mem0"
	"github.com/locket-dev/locket/node/serve"
)

// Tests that need no more than a home; one home is enough for all.
func TestDoors(t *testing.T) {
	h := newHome(t)
	for name, test := range map[string]func(*testing.T, *home){"paced": doorsArePaced, "graph": graphIsPaced, "twice": twoCallsCountTwice, "note": noteIsTheApps, "hook": hookIsTheApps} {
		t.Run(name, func(t *testing.T) { test(t, h) })
	}
}

// Each request of an app counts, in every interface, even if it does not call the
// API. A request that calls the API once counts once.
func doorsArePaced(t *testing.T, h *home) {
	h.add(t, h.Client, plain("Ana likes green tea"))
	api := serve.New(serve.Options{Services: h.node.Services(), ForApps: func(api http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/mcp": {Handler: mcp.Handler(api, "test")}, "/mem0/": {Handler: mem0.Handler(api)}}
	}})
	for name, r := range map[string][3]string{
		"tools":   {"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		"call":    {"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_memories","arguments":{"query":"tea"}}}`},
		"broken":  {"POST", "/mcp", `{`},
		"ping":    {"GET", "/mem0/v1/ping/", ""},
		"nothing": {"GET", "/mem0/v9/nothing/", ""},
		"search":  {"POST", "/mem0/search", `{"query":"tea"}`},
	} {
		few := reads(name, "semantic")
		few.Requests = 3
		n, err := h.AddApp(t.Context(), few)
		if err != nil {
			t.Fatal(err)
		}
		var codes []int
		for range 5 {
			req := httptest.NewRequest(r[0], "http://localhost"+r[1], strings.NewReader(r[2]))
			req.Header.Set("Authorization", "Bearer "+string(n.Key))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			w := httptest.NewRecorder()
			api.ServeHTTP(w, req)
			codes = append(codes, w.Code)
		}
		for i, c := range codes {
			if (c == http.StatusTooManyRequests) != (i >= 3) {
				t.Errorf("%s: %v", name, codes)
				break
			}
		}
	}
}

// A request that calls the API twice counts twice.
func twoCallsCountTwice(t *testing.T, h *home) {
	api := serve.New(serve.Options{Services: h.node.Services(), ForApps: func(api http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/twice": {Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			c := serve.AsApp(api, r)
			for i := range 2 {
				if _, err := c.Search(r.Context(), serve.SearchRequest{Query: "tea"}); err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})}}
	}})
	few := reads("twice", "semantic")
	few.Requests = 3
	n, err := h.AddApp(t.Context(), few)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() int {
		req := httptest.NewRequest("GET", "http://localhost/twice", nil)
		req.Header.Set("Authorization", "Bearer "+string(n.Key))
		w := httptest.NewRecorder()
		api.ServeHTTP(w, req)
		return w.Code
	}
	if code := ask(); code != http.StatusOK {
		t.Fatal(code)
	}
	if _, err := h.WithKey(n.Key).Search(t.Context(), serve.SearchRequest{Query: "tea"}); err != nil {
		t.Errorf("the third: %v", err)
	}
	if code := ask(); code != http.StatusTooManyRequests {
		t.Errorf("the fourth: %d", code)
	}
}

// A graph reads everything that an app sees, and counts accordingly.
func graphIsPaced(t *testing.T, h *home) {
	ctx := t.Context()
	ops := make([]serve.Operation, 0, serve.MaxBatch)
	for i := range serve.MaxPage + 1 {
		r := plain("Ana counted " + strings.Repeat("x", i) + " boats")
		ops = append(ops, serve.Operation{Add: &r})
	}
	if res, err := h.Batch(ctx, ops); err != nil || res.Failed > 0 {
		t.Fatalf("%+v, %v", res.Failed, err)
	}
	few := reads("few", "semantic")
	few.Requests = 3
	app := h.app(t, few)
	if _, err := app.Graph(ctx, atlas.Query{}); err != nil { // counts as 2
		t.Fatal(err)
	}
	_, err := app.Graph(ctx, atlas.Query{})
	want(t, err, serve.ErrLimit, "a graph counts")
}

// What a language model is sent for an app is taken from the app's tokens of the day,
// and nothing is sent once those are used up.
func TestTopicUsesTokens(t *testing.T) {
	ctx := t.Context()
	s := llmtest.New(t, llmtest.Options{Key: "a key of the model"})
	s.Otherwise(llmtest.Say("tea"))
	h := newHome(t, func(c *config.Config) {
		c.LLM = config.LLM{URL: s.URL, Model: s.Model(), Key: "a key of the model", Topic: true}
	})
	h.add(t, h.Client, plain("Ana likes green tea"))
	r := reads("little", "semantic")
	r.Tokens = 2000
	app := h.app(t, r)
	q := serve.ContextRequest{Budget: 200, Messages: []serve.ContextMessage{{Text: strings.Repeat("What does she drink in the morning? ", 20)}, {Text: "And at night?"}}}
	for range 20 {
		if _, err := app.Context(ctx, q); err != nil {
			break
		}
	}
	l, err := h.AppLog(ctx, "little", 100)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, u := range l.Entries {
		if u.Did == "topic" {
			sent += u.Tokens
		}
	}
	n := len(s.Requests())
	if n == 0 || n > 10 || sent < n*180 || l.Today.Tokens > 2000 {
		t.Errorf("the model was asked %d times, for %d tokens of %+v", n, sent, l.Today)
	}
}

// What an app adds is the app's statement, and not the wearer's.
func noteIsTheApps(t *testing.T, h *home) {
	app := h.app(t, serve.AppRequest{Name: "notes", Can: serve.Rights[:], Types: []string{"semantic"}, Buying: budget()})
	m, err := h.Get(t.Context(), h.add(t, app, plain("The kettle is blue")).String())
	if err != nil || len(m.Evidence) != 1 || m.Evidence[0].Speaker != "notes" {
		t.Errorf("%+v, %v", m.Evidence, err)
	}
	if m, err = h.Get(t.Context(), h.add(t, h.Client, plain("The pot is red")).String()); err != nil || m.Evidence[0].Speaker != "Ana" {
		t.Errorf("%+v, %v", m.Evidence, err)
	}
}

// A hook is sent what its app may read from then on, and nothing once the app was
// revoked.
func hookIsTheApps(t *testing.T, h *home) {
	ctx := t.Context()
	b, ok := h.node.Services().Apps.(*apps.Book)
	if !ok {
		t.Fatal("no book")
	}
	h.add(t, h.Client, plain("The sofa is brown"))
	r := reads("hooked", "semantic")
	r.Hook = "https://hook.example/"
	n, err := h.AddApp(ctx, r)
	if err != nil || !strings.HasPrefix(string(n.HookSecret), apps.SecretPrefix) {
		t.Fatal(n, err)
	}
	episode := plain("Ana sold the sofa")
	episode.Type = "episodic"
	h.add(t, h.Client, episode)
	gone := h.add(t, h.Client, plain("The lamp is red"))
	h.add(t, h.Client, plain("The lamp is green"))
	if _, err := h.Delete(ctx, gone.String()); err != nil {
		t.Fatal(err)
	}
	hook := func() apps.Hook {
		list, err := b.Hooks(ctx)
		if err != nil || len(list) != 1 || list[0].Secret != n.HookSecret {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	first := hook()
	told, cursor, err := b.NextChange(ctx, first)
	if err != nil || told == nil || told.Change == nil || told.Memory.Text != "The lamp is green" || told.Conflict != nil {
		t.Fatalf("%+v, %v", told, err)
	}
	first.Cursor = cursor
	if err := b.SaveHook(ctx, first); err != nil {
		t.Fatal(err)
	}
	if told, _, err = b.NextChange(ctx, hook()); err != nil || told != nil {
		t.Errorf("%+v, %v", told, err)
	}
	if l, err := h.AppLog(ctx, "hooked", 10); err != nil || len(l.Entries) != 1 || l.Entries[0].Did != "hook" || len(l.Entries[0].Shown) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	last := hook()
	if _, err := h.RevokeApp(ctx, "hooked"); err != nil {
		t.Fatal(err)
	}
	if list, err := b.Hooks(ctx); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	_, _, err = b.NextChange(ctx, last)
	want(t, err, serve.ErrKey, "")
	for _, bad := range []string{"http://hook.example/", "ftp://hook.example/", "https://", "https://u:p@hook.example/", "hook", "https://hook.example/#x"} {
		r.Hook = bad
		_, err := h.AddApp(ctx, r)
		want(t, err, memory.ErrInvalid, "hook: want")
	}
	r.Hook, r.Can = "http://127.0.0.1:1/", []serve.Right{serve.RightAdd}
	_, err = h.AddApp(ctx, r)
	want(t, err, memory.ErrInvalid, "right to read")
}

// book returns a Book with its own store.
func book(t *testing.T) *apps.Book {
	t.Helper()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return apps.NewBook(s, nil, time.Now)
}

// slow is a writer whose Add waits.
type slow struct {
	serve.Writer
	begun, end chan bool
}

func (s slow) Add(context.Context, serve.AddRequest) (serve.AddResult, error) {
	s.begun <- true
	<-s.end
	return serve.AddResult{}, nil
}

// A revocation returns once what the app was writing is written, and nothing is
// written after it.
func TestRevokeWaitsForWrites(t *testing.T) {
	ctx := t.Context()
	b := book(t)
	w := slow{begun: make(chan bool, 2), end: make(chan bool)}
	s := apps.Guard(serve.Services{Writer: w}, b, "Ana")
	n, err := b.AddApp(ctx, serve.AppRequest{Name: "notes", Can: serve.Rights[:], Types: []string{"semantic"}, Buying: budget()})
	if err != nil {
		t.Fatal(err)
	}
	caller, within, leave, err := b.Admit(ctx, n.Key)
	if err != nil {
		t.Fatal(err)
	}
	late, lateWithin, lateLeave, err := b.Admit(ctx, n.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer lateLeave()
	written := make(chan error, 1)
	go func() {
		defer leave()
		_, err := s.Writer.Add(serve.WithCaller(within, caller), plain("The kettle is blue"))
		written <- err
	}()
	<-w.begun
	short, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(within, cancel)() // the caller waits only for the revocation itself
	_, err = b.RevokeApp(short, "notes")
	want(t, err, context.Canceled, "notes is revoked, but its last change is still being written")
	want(t, context.Cause(within), serve.ErrKey, "revoked")
	_, err = s.Writer.Add(serve.WithCaller(lateWithin, late), plain("The pot is red"))
	want(t, err, serve.ErrKey, "revoked")
	close(w.end)
	if _, err := b.RevokeApp(ctx, "notes"); err != nil {
		t.Error(err)
	}
	select {
	case err := <-written:
		if err != nil {
			t.Error(err)
		}
	default:
		t.Error("the write had not ended when the app was revoked")
	}
}

// A name that was revoked can be used again, and only valid keys count.
func TestRevokedNameIsReusable(t *testing.T) {
	ctx := t.Context()
	b := book(t)
	first, err := b.AddApp(ctx, reads("claude", "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = b.AddApp(ctx, reads("claude", "semantic")); err == nil {
		t.Error("two of one name")
	}
	for range 2 * apps.MaxApps {
		if _, err := b.RevokeApp(ctx, "claude"); err != nil {
			t.Fatal(err)
		}
		if _, err = b.AddApp(ctx, reads("claude", "episodic")); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := b.Admit(ctx, first.Key); err == nil {
		t.Error("the first key opens")
	}
	if list, err := b.Apps(ctx); err != nil || len(list) != 1 || !list[0].Revoked.IsZero() || list[0].Types[0] != "episodic" {
		t.Errorf("%+v, %v", list, err)
	}
	for i := 1; i < apps.MaxApps; i++ {
		if _, err := b.AddApp(ctx, reads(strings.Repeat("a", i%30+1)+string(rune('a'+i/30)), "semantic")); err != nil {
			t.Fatal(err)
		}
	}
	_, err = b.AddApp(ctx, reads("one-more", "semantic"))
	want(t, err, serve.ErrConflict, "100 apps")
	if _, err := b.RevokeApp(ctx, "claude"); err != nil {
		t.Fatal(err)
	}
	if _, err = b.AddApp(ctx, reads("one-more", "semantic")); err != nil {
		t.Error(err)
	}
	if _, err := b.AppLog(ctx, "claude", 1); err != nil {
		t.Error(err)
	}
}
