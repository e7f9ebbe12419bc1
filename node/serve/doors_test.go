package serve_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
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

// OpenAI's clients show the text of an error only if it is in error.message. A wrong key, a missing
// right and an unknown path are answered before any handler that knows who calls.
func TestEarlyProblemsAreReadByOpenAI(t *testing.T) {
	h := serve.New(serve.Options{Services: nodetest.New(t, nodetest.Cheap).Services(), ForApps: func(http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"POST /v1/chat/completions": {Handler: http.NotFoundHandler(), Needs: serve.RightChat}}
	}})
	owner := serve.InProcess(h)
	defer owner.Close()
	n, err := owner.AddApp(t.Context(), serve.AppRequest{Name: "reader", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, key string
		status            int
		want              string
	}{
		{"POST", "/v1/chat/completions", "lka_AAAAAAAAAAAAAAAAAAAAAAAAAA", 401, "no app has this key"},
		{"POST", "/v1/chat/completions", string(n.Key), 403, "app reader may not chat"},
		{"GET", "/v1/chat/completions", string(n.Key), 405, "the path takes POST"},
		{"POST", "/v1/embeddings", string(n.Key), 404, "there is no /v1/embeddings"},
	} {
		w := ask(h, c.method, c.path, "", "Authorization", "Bearer "+c.key)
		var got struct {
			Status int
			Detail string
			Error  struct{ Message string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != c.status || got.Status != c.status || !strings.Contains(got.Error.Message, c.want) || got.Error.Message != got.Detail {
			t.Errorf("%s %s: %d %s, %v", c.method, c.path, w.Code, w.Body, err)
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
