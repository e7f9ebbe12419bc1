package serve_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// A door beside the API is open only to apps, with the right that it needs and a body
// that it accepts; and if a request has two keys, neither of them opens it.
func TestDoorsAreForApps(t *testing.T) {
	read := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	}
	h := serve.New(serve.Options{Services: nodetest.New(t, nodetest.Cheap).Services(), ForApps: func(http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/read": {Handler: http.HandlerFunc(read), Needs: serve.RightRead, Body: 4}, "/chat": {Handler: http.HandlerFunc(read), Needs: serve.RightChat}}
	}})
	owner := serve.InProcess(h)
	defer owner.Close()
	var keys []string
	for _, name := range []string{"first", "second"} {
		n, err := owner.AddApp(t.Context(), serve.AppRequest{Name: name, Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(n.Key))
	}
	problem(t, ask(h, "POST", "/read", "1234"), 401, "app-key", "authorization") // the owner, who needs no token here
	for _, c := range []struct {
		path, body, header string
		status             int
	}{
		{"/read", "1234", keys[0], 200},
		{"/read", "12345", keys[0], 413},
		{"/chat", "1234", keys[0], 403},
		{"/k/" + keys[0] + "/read", "1234", "", 200},
		{"/k/" + keys[0] + "/read", "1234", keys[0], 200},
		{"/k/" + keys[0] + "/read", "1234", keys[1], 404},
	} {
		if w := ask(h, "POST", c.path, c.body, "Authorization", "Bearer "+c.header); w.Code != c.status {
			t.Errorf("%s with %d bytes: %d %s, want %d", c.path, len(c.body), w.Code, w.Body, c.status)
		}
	}
}

// locks counts how many passphrases are tried at the same time.
type locks struct {
	serve.Keys
	now, most atomic.Int64
}

func (l *locks) Unlock(context.Context, serve.Secret) error {
	l.most.Store(max(l.most.Load(), l.now.Add(1)))
	for range 1000 {
		runtime.Gosched()
	}
	l.now.Add(-1)
	return nil
}

// Passphrases are tried one at a time, since each try takes much memory.
func TestPassphrasesOneAtATime(t *testing.T) {
	l := new(locks)
	h := serve.New(serve.Options{Services: serve.Services{Keys: l}})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if w := ask(h, "POST", "/v1/unlock", `{"passphrase":"x"}`); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
	if n := l.most.Load(); n != 1 {
		t.Errorf("%d at a time", n)
	}
}
