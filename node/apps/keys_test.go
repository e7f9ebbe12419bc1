package apps_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A key that was revoked is not valid, and its open requests end with 401.
func TestThreatRevokedKey(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	h.add(t, h.Client, plain("Ana likes green tea"))
	server := httptest.NewServer(h.api)
	defer server.Close()
	owner := serve.Dial("tcp", strings.TrimPrefix(server.URL, "http://"), "")
	n, err := owner.AddApp(ctx, reads("reader", "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	app := owner.WithKey(n.Key)
	begun, ended := make(chan bool, 1), make(chan error, 1)
	go func() {
		var last error
		for _, err := range app.Changes(context.WithoutCancel(ctx), 0, true) {
			if last = err; err == nil {
				begun <- true
			}
		}
		ended <- last
	}()
	<-begun
	if p, err := owner.RevokeApp(ctx, "reader"); err != nil || p.Revoked.IsZero() {
		t.Fatalf("%+v, %v", p, err)
	}
	want(t, <-ended, serve.ErrKey, "revoked")
	_, err = app.List(ctx, serve.ListQuery{})
	want(t, err, serve.ErrKey, "")
	_, err = owner.RevokeApp(ctx, "nobody")
	want(t, err, memory.ErrNotFound, "")
	if list, err := owner.Apps(ctx); err != nil || len(list) != 1 || list[0].Revoked.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = owner.WithKey("lka_never").List(ctx, serve.ListQuery{})
	want(t, err, serve.ErrKey, "")
	short := reads("short", "semantic")
	short.Requests = 10_000
	for within := 300 * time.Millisecond; ; within *= 2 { // on a busy machine the time may be over before the request arrives
		short.Ends = time.Now().Add(within)
		if n, err = owner.AddApp(ctx, short); !errors.Is(err, memory.ErrInvalid) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for err = nil; err == nil; {
		_, err = owner.WithKey(n.Key).Self(ctx)
	}
	want(t, err, serve.ErrKey, "")
}

// Somebody who has a session of the console can't make a key that may do more, or is
// valid longer, than the page's form offers.
func TestThreatKeyFromAPage(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	page := serve.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.api.ServeHTTP(w, r.WithContext(serve.FromPage(r.Context())))
	}))
	defer page.Close()
	asked := func(change func(*serve.AppRequest)) serve.AppRequest {
		r := reads("thief", "core", "episodic", "semantic", "procedural", "resource")
		r.Ends = time.Now().Add(365 * 24 * time.Hour)
		change(&r)
		return r
	}
	level := func(s memory.Sensitivity) func(*serve.AppRequest) {
		return func(r *serve.AppRequest) { r.Sensitivity = &s }
	}
	type refusal struct {
		change func(*serve.AppRequest)
		field  string
		err    error
	}
	refused := map[string]refusal{
		"no end":     {func(r *serve.AppRequest) { r.Ends = time.Time{} }, "ends", serve.ErrForbidden},
		"a late end": {func(r *serve.AppRequest) { r.Ends = time.Now().Add(367 * 24 * time.Hour) }, "ends", serve.ErrForbidden},
		"private":    {level(memory.Private), "sensitivity", serve.ErrForbidden},
		"delegate":   {func(r *serve.AppRequest) { r.Delegate = 1 }, "delegate", serve.ErrForbidden},
		"hook":       {func(r *serve.AppRequest) { r.Hook = "https://example.org/" }, "hook", serve.ErrForbidden},
		"requests":   {func(r *serve.AppRequest) { r.Requests = serve.DefaultAppRequests + 1 }, "requests", serve.ErrForbidden},
		"tokens":     {func(r *serve.AppRequest) { r.Tokens = serve.DefaultAppTokens + 1 }, "tokens", serve.ErrForbidden},
		"lines":      {func(r *serve.AppRequest) { r.Types = []string{serve.AppUtterances} }, "types", memory.ErrInvalid},
		"secrets":    {func(r *serve.AppRequest) { r.Types = []string{"vault"} }, "types", memory.ErrInvalid},
	}
	var offered []serve.Right
	for _, right := range serve.Rights {
		switch right {
		case serve.RightRead, serve.RightAdd, serve.RightUpdate, serve.RightForget, serve.RightChat:
			offered = append(offered, right)
			continue
		}
		refused[string(right)] = refusal{func(r *serve.AppRequest) {
			r.Can = append(r.Can, right)
			if right == serve.RightBuy {
				r.Buying = budget()
			}
		}, "can.1", serve.ErrForbidden}
	}
	for name, f := range refused {
		t.Run(name, func(t *testing.T) {
			_, err := page.AddApp(ctx, asked(f.change))
			if p, ok := errors.AsType[*serve.Problem](err); !ok || p.Field != f.field || !errors.Is(err, f.err) {
				t.Errorf("%+v, want %v at %q", err, f.err, f.field)
			}
		})
	}
	if list, err := h.Apps(ctx); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	n, err := page.AddApp(ctx, asked(func(r *serve.AppRequest) { r.Can = offered }))
	if err != nil || *n.App.Sensitivity != memory.Personal {
		t.Errorf("%+v, %v", n.App, err)
	}
}

// An open stream respects a policy that the wearer has changed meanwhile.
func TestThreatStreamOfAnOldPolicy(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	h := newHome(t)
	first := h.add(t, h.Client, plain("Ana likes green tea"))
	app := h.app(t, reads("reader", "semantic"))
	seen := make(chan memory.ID, 10)
	go func() {
		for c, err := range app.Changes(ctx, 0, true) {
			if err == nil {
				seen <- c.Memory
			}
		}
	}()
	if got := <-seen; got != first {
		t.Fatalf("%s, want %s", got, first)
	}
	if _, err := h.SetPolicy(ctx, `permit (principal, action, resource) when { resource.tags.contains("garden") };`); err != nil {
		t.Fatal(err)
	}
	h.add(t, h.Client, plain("Ana's knee hurts"))
	garden := plain("The tomatoes are ripe")
	garden.Tags = []string{"garden"}
	want := h.add(t, h.Client, garden)
	if got := <-seen; got != want {
		t.Errorf("the app is given %s, which the policy keeps from it", got)
	}
}

// An app may have only a limited number of streams open at the same time, because the
// node's connections are limited and a stream stays open.
func TestStreamsAtOnce(t *testing.T) {
	h := newHome(t)
	h.add(t, h.Client, plain("The kettle is blue"))
	app, other := h.app(t, reads("reader", "semantic")), h.app(t, reads("other", "semantic"))
	var ends []func()
	var leaving sync.WaitGroup
	var full error
	for len(ends) < 100 && full == nil {
		ctx, end := context.WithCancel(t.Context())
		ends = append(ends, end)
		begun := make(chan error, 1)
		leaving.Go(func() {
			for _, err := range app.Changes(ctx, 0, true) {
				select {
				case begun <- err:
				default:
				}
			}
		})
		full = <-begun
	}
	want(t, full, serve.ErrLimit, "32 requests are under way")
	passes(t, full, 1, 1)
	if _, err := other.List(t.Context(), serve.ListQuery{}); err != nil {
		t.Error(err)
	}
	for _, end := range ends {
		end()
	}
	leaving.Wait()
	if _, err := app.Self(t.Context()); err != nil {
		t.Error(err)
	}
}

// An app does not become the owner by writing the scheme differently, even where the
// owner needs no token.
func TestKeyInAnyCase(t *testing.T) {
	h := newHome(t)
	n, err := h.AddApp(t.Context(), reads("reader", "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER ", "token ", "Bearer  "} {
		r := httptest.NewRequest("GET", "http://localhost/v1/apps", nil)
		r.Header.Set("Authorization", scheme+string(n.Key))
		w := httptest.NewRecorder()
		h.api.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			t.Errorf("%q: %d %s", scheme, w.Code, w.Body)
		}
	}
}

// A locked node admits no app, and reveals nothing.
func TestLocked(t *testing.T) {
	h := newHome(t)
	app := h.app(t, reads("reader", "semantic"))
	if _, err := h.Client.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := app.List(t.Context(), serve.ListQuery{})
	want(t, err, memory.ErrLocked, "")
}

func TestBadRequests(t *testing.T) {
	h := newHome(t)
	now := time.Now()
	for field, change := range map[string]func(*serve.AppRequest){
		"name":     func(r *serve.AppRequest) { r.Name = "A b" },
		"can":      func(r *serve.AppRequest) { r.Can = nil },
		"can: sha": func(r *serve.AppRequest) { r.Can = []serve.Right{"share"} },
		"can: \"o": func(r *serve.AppRequest) { r.Can = []serve.Right{"owner"} },
		"types":    func(r *serve.AppRequest) { r.Types = nil },
		"vault":    func(r *serve.AppRequest) { r.Types = []string{"vault"} },
		"\"dream":  func(r *serve.AppRequest) { r.Types = []string{"dream"} },
		"private":  func(r *serve.AppRequest) { r.Types = []string{"utterances"} },
		"until":    func(r *serve.AppRequest) { r.Since, r.Until = now, now },
		"ends":     func(r *serve.AppRequest) { r.Ends = now.Add(-time.Hour) },
		"requests": func(r *serve.AppRequest) { r.Requests = -1 },
		"tokens":   func(r *serve.AppRequest) { r.Tokens = 1 << 40 },
		"tags":     func(r *serve.AppRequest) { r.Tags = []string{""} },
		"owner":    func(r *serve.AppRequest) { r.Owner.User = strings.Repeat("x", 200) },
	} {
		r := reads("reader", "semantic")
		change(&r)
		_, err := h.AddApp(t.Context(), r)
		want(t, err, memory.ErrInvalid, field)
	}
}
