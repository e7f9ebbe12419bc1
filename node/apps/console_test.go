package apps_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/serve"
)

// A revocation also waits for what a console on another machine is writing, and nothing is written
// with its key afterwards.
func TestRevokeWaitsForConsole(t *testing.T) {
	ctx := t.Context()
	b := book(t)
	w := slow{begun: make(chan bool, 2), end: make(chan bool)}
	s := apps.Guard(serve.Services{Writer: w}, b, "Ana")
	s.Apps = b
	api := serve.New(serve.Options{Services: s, AppsAlone: true})
	n, err := b.AddApp(ctx, serve.AppRequest{Name: "laptop", Can: []serve.Right{serve.RightConsole}, Ends: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	ask := consoleOf(t, api, n.Key)
	written := make(chan int, 1)
	go func() { written <- ask("POST", "/v1/memories", `{"text": "The kettle is blue", "infer": false}`).Code }()
	<-w.begun
	short, cancel := context.WithCancel(ctx)
	go func() { // the caller waits only for the revocation itself
		for ask("GET", "/v1/self", "").Code == http.StatusOK {
			runtime.Gosched()
		}
		cancel()
	}()
	_, err = b.RevokeApp(short, "laptop")
	want(t, err, context.Canceled, "its last change is still being written")
	if a := ask("POST", "/v1/memories", `{"text": "The pot is red", "infer": false}`); a.Code != http.StatusUnauthorized {
		t.Error(a.Code, a.Body)
	}
	close(w.end)
	if code := <-written; code != http.StatusOK && code != http.StatusCreated {
		t.Error(code)
	}
	if _, err := b.RevokeApp(ctx, "laptop"); err != nil {
		t.Error(err)
	}
}

// A revocation between the admission of a request and its beginning takes effect.
func TestRevokedAsConsoleBegins(t *testing.T) {
	ctx := t.Context()
	b := book(t)
	w := slow{begun: make(chan bool, 1), end: make(chan bool)}
	close(w.end)
	s := apps.Guard(serve.Services{Writer: w}, b, "Ana")
	admitted := func() {}
	s.Apps = admits{b, func() { admitted() }}
	n, err := b.AddApp(ctx, serve.AppRequest{Name: "laptop", Can: []serve.Right{serve.RightConsole}, Ends: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	ask := consoleOf(t, serve.New(serve.Options{Services: s, AppsAlone: true}), n.Key)
	admitted = func() {
		if _, err := b.RevokeApp(ctx, "laptop"); err != nil {
			t.Error(err)
		}
	}
	if a := ask("POST", "/v1/memories", `{"text": "The pot is red", "infer": false}`); a.Code != http.StatusUnauthorized {
		t.Error(a.Code, a.Body)
	}
}

// admits calls a function when a key has been admitted.
type admits struct {
	*apps.Book
	then func()
}

func (a admits) Admit(ctx context.Context, key serve.Secret) (serve.Caller, context.Context, func(), error) {
	c, ctx, leave, err := a.Book.Admit(ctx, key)
	a.then()
	return c, ctx, leave, err
}

// consoleOf makes requests like a console on another machine, which first asks for the number of
// the daemon's run, because other requests are not answered.
func consoleOf(t *testing.T, api http.Handler, key serve.Secret) (ask func(method, path, body string) *httptest.ResponseRecorder) {
	t.Helper()
	run := "another"
	ask = func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+string(key))
		r.Header.Set(serve.RunHeader, run)
		a := httptest.NewRecorder()
		api.ServeHTTP(a, r)
		return a
	}
	if a := ask("GET", "/v1/status", ""); a.Code != http.StatusUnauthorized {
		t.Errorf("of another run: %d %s", a.Code, a.Body)
	}
	var self serve.Self
	if a := ask("GET", "/v1/self", ""); json.Unmarshal(a.Body.Bytes(), &self) != nil || self.Run == "" {
		t.Fatal(a.Code, a.Body)
	}
	run = self.Run
	return ask
}
