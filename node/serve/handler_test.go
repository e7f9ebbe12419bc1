package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

func TestMain(m *testing.M) { nodetest.Main(m) }

const token = serve.Secret("a token of this test")

// A compressed body is refused before anything reads it, by every route and door.
func TestCompressedBody(t *testing.T) {
	h := serve.New(serve.Options{Services: nodetest.New(t, nodetest.Cheap).Services(), ForApps: func(http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/door": {Handler: http.NotFoundHandler()}}
	}})
	for _, path := range []string{"/v1/memories", "/v1/search", "/v1/import", "/door"} {
		w := ask(h, "POST", path, "\x1f\x8b\x08", "Content-Encoding", "gzip")
		p := problem(t, w, 415, "unsupported-media-type", "content-encoding")
		if !strings.Contains(p.Detail, `"gzip"`) || w.Header().Get("Accept-Encoding") != "identity" {
			t.Errorf("%s: %q %v", path, p.Detail, w.Header())
		}
	}
	if w := ask(h, "POST", "/v1/search", `{"query":"x"}`, "Content-Encoding", "identity"); w.Code != 200 {
		t.Error(w.Code, w.Body)
	}
}

// ask sends a request to a handler unchanged.
func ask(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// problem checks that an answer is a problem of a type.
func problem(t *testing.T, w *httptest.ResponseRecorder, status int, kind, field string) serve.Problem {
	t.Helper()
	var p serve.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	if w.Code != status || p.Status != status || p.Type != "urn:locket:problem:"+kind || p.Field != field ||
		p.Title == "" || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%d %s %+v, want %d %s of field %q", w.Code, w.Header(), p, status, kind, field)
	}
	return p
}

func TestTokenAndHost(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	h := serve.New(serve.Options{Services: n.Services(), Token: token, Loopback: true})
	right := "Bearer " + string(token)
	for _, wrong := range []string{"", "Bearer", "Bearer ", "Bearer a token of this tes", right + "x", "Basic " + string(token), strings.ToLower(right), string(token)} {
		w := ask(h, "GET", "/v1/status", "", "Authorization", wrong)
		problem(t, w, 401, "unauthorized", "authorization")
		if w.Header().Get("WWW-Authenticate") == "" {
			t.Error("no WWW-Authenticate")
		}
	}
	for _, path := range []string{"/metrics", "/v1/openapi.yaml", "/nowhere", "/v1/memories"} {
		problem(t, ask(h, "GET", path, ""), 401, "unauthorized", "authorization")
	}
	if w := ask(h, "GET", "/healthz", ""); w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"status":"ok"}` {
		t.Errorf("healthz without a token: %d %s", w.Code, w.Body)
	}
	for host, ok := range map[string]bool{
		"localhost": true, "localhost:7000": true, "127.0.0.1:7000": true, "[::1]:7000": true, "127.9.9.9": true, "[::1]": true,
		"evil.example": false, "evil.example:7000": false, "localhost.evil.example": false, "10.0.0.1:7000": false, "": false, "127.0.0.1.evil.example": false,
	} {
		w := ask(h, "GET", "/v1/status", "", "Authorization", right, "Host", host)
		if ok && w.Code != 200 {
			t.Errorf("host %q: %d %s", host, w.Code, w.Body)
		}
		if !ok {
			problem(t, w, 421, "host-not-allowed", "host")
		}
	}
	open := serve.New(serve.Options{Services: n.Services()})
	if w := ask(open, "GET", "/v1/status", "", "Host", "anything"); w.Code != 200 {
		t.Errorf("behind a socket: %d %s", w.Code, w.Body)
	}
}

func TestProblems(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	h := serve.New(serve.Options{Services: n.Services()})
	noID := strings.Repeat("0", 26)
	big := strings.Repeat("a", serve.MaxBody)
	for _, c := range []struct {
		method, path, body string
		status             int
		kind, field        string
	}{
		{"GET", "/nowhere", "", 404, "no-such-route", ""},
		{"GET", "/v1", "", 404, "no-such-route", ""},
		{"PUT", "/v1/memories", "{}", 405, "method-not-allowed", ""},
		{"DELETE", "/healthz", "", 405, "method-not-allowed", ""},
		{"POST", "/v1/vault/" + noID, "{}", 405, "method-not-allowed", ""},
		{"POST", "/v1/search", `{"query":"x","quarry":1}`, 400, "invalid-request", "quarry"},
		{"POST", "/v1/search", `{"query":3}`, 400, "invalid-request", "query"},
		{"POST", "/v1/search", `{"query":"x","k":"three"}`, 400, "invalid-request", "k"},
		{"POST", "/v1/search", `{"query":"x"`, 400, "invalid-request", ""},
		{"POST", "/v1/search", `{"query":"x"} {}`, 400, "invalid-request", ""},
		{"POST", "/v1/search", `[]`, 400, "invalid-request", ""},
		{"POST", "/v1/search", `{"query":"x","as_of":"yesterday"}`, 422, "invalid", "as_of"},
		{"POST", "/v1/search", `{"query":"x","as_of":"0001-01-01T00:00:00Z"}`, 422, "invalid", "as_of"},
		{"POST", "/v1/memories", `{"text":"x","infer":false,"at":"0000-01-01T00:00:00+10:00"}`, 422, "invalid", "at"},
		{"POST", "/v1/search", `{"query":"x","as_of":"9999-12-31T23:59:59-10:00"}`, 422, "invalid", "as_of"},
		{"GET", "/v1/days/9999-12-31", "", 422, "invalid", ""},
		{"GET", "/v1/memories?as_of=0001-01-01T00:00:00Z", "", 422, "invalid", "as_of"},
		{"POST", "/v1/search", "", 415, "unsupported-media-type", ""},
		{"POST", "/v1/search", `{"query":" "}`, 422, "invalid", "query"},
		{"POST", "/v1/search", `{"query":"x","k":101}`, 422, "invalid", "k"},
		{"POST", "/v1/search", `{"query":"x","types":["dream"]}`, 422, "invalid", "types"},
		{"POST", "/v1/search", `{"query":"x","types":[""]}`, 422, "invalid", "types"},
		{"POST", "/v1/search", `{"query":"x","only":"lies"}`, 422, "invalid", "only"},
		{"POST", "/v1/search", `{"query":"x","threshold":-1}`, 422, "invalid", "threshold"},
		{"POST", "/v1/consents/abcd", `{"act":"perhaps"}`, 422, "invalid", "act"},
		{"POST", "/v1/consents/abcd", `{}`, 422, "invalid", "act"},
		{"POST", "/v1/consents/abcd", `{"act":"refuse"}`, 404, "not-found", ""},
		{"POST", "/v1/memories", `{"text":""}`, 422, "invalid", "text"},
		{"POST", "/v1/memories", `{"text":"The Wi-Fi password is maple-TREE-9921.","infer":false}`, 422, "secret", "text"},
		{"POST", "/v1/memories", `{"text":"` + strings.Repeat("a", memory.MaxText+1) + `"}`, 422, "invalid", "text"},
		{"POST", "/v1/memories", `{"text":"` + big + `"}`, 413, "too-large", ""},
		{"POST", "/v1/memories", `{"text":"x","type":"vault","infer":false}`, 422, "invalid", "type"},
		{"POST", "/v1/memories", `{"text":"x","type":"core"}`, 422, "invalid", "infer"},
		{"POST", "/v1/memories", `{"text":"xyz","type":"core","infer":false,"fields":{"core":{"block":" ","limit":9}}}`, 422, "invalid", "fields.core.block"},
		{"POST", "/v1/memories", `{"text":"x","sensitivity":"a bit"}`, 422, "invalid", "sensitivity"},
		{"PATCH", "/v1/memories/" + noID, `{"text":"y"}`, 404, "not-found", ""},
		{"GET", "/v1/memories/ab", "", 422, "invalid", "id"},
		{"GET", "/v1/memories?limit=0", "", 422, "invalid", "limit"},
		{"GET", "/v1/memories?limit=501", "", 422, "invalid", "limit"},
		{"GET", "/v1/memories?type=dream", "", 422, "invalid", "type"},
		{"GET", "/v1/memories?state=erased", "", 422, "invalid", "state"},
		{"GET", "/v1/memories?since=then", "", 422, "invalid", "since"},
		{"GET", "/v1/memories?tpye=core", "", 400, "invalid-request", "tpye"},
		{"GET", "/v1/memories?type=core&type=core", "", 400, "invalid-request", "type"},
		{"GET", "/v1/memories?a=%zz", "", 400, "invalid-request", ""},
		{"GET", "/v1/memories?cursor=none", "", 422, "invalid", "cursor"},
		{"GET", "/v1/filter?line=tpye+%3D+core", "", 422, "invalid", "line"},
		{"GET", "/v1/status?x=1", "", 400, "invalid-request", "x"},
		{"GET", "/v1/changes?after=-1", "", 422, "invalid", "after"},
		{"GET", "/v1/doctor?verify=perhaps", "", 422, "invalid", "verify"},
		{"POST", "/v1/forget", `{}`, 422, "invalid", ""},
		{"POST", "/v1/forget", `{"query":"x"}`, 422, "invalid", "plan"},
		{"POST", "/v1/forget", `{"when":"today","last":"1h","plan":true}`, 422, "invalid", "when"},
		{"POST", "/v1/forget", `{"when":"soon","plan":true}`, 422, "invalid", "when"},
		{"DELETE", "/v1/memories", ``, 422, "invalid", "user"},
		{"DELETE", "/v1/memories?agent=x&confirm=", ``, 422, "invalid", "confirm"},
		{"DELETE", "/v1/memories?agent=x&confirm=y", ``, 410, "plan-gone", "confirm"},
		{"DELETE", "/v1/memories?state=all", ``, 400, "invalid-request", "state"},
		{"POST", "/v1/forget", `{"query":"x","confirm":"y"}`, 422, "invalid", "confirm"},
		{"POST", "/v1/forget", `{"confirm":"y"}`, 410, "plan-gone", "confirm"},
		{"POST", "/v1/forget", `{"last":"soon","plan":true}`, 422, "invalid", "last"},
		{"POST", "/v1/unlock", `{"passphrase":"no","ttl":"1m"}`, 422, "invalid", "ttl"},
		{"POST", "/v1/vault/unlock", `{"ttl":"61m"}`, 422, "invalid", "ttl"},
		{"GET", "/v1/vault/" + noID, "", 404, "not-found", ""},
		{"POST", "/v1/devices", `{"name":"a/b"}`, 422, "invalid", "name"},
		{"POST", "/v1/devices", `{"name":""}`, 422, "invalid", "name"},
		{"DELETE", "/v1/devices/none", "", 404, "not-found", ""},
		{"GET", "/metrics", "", 501, "unsupported", ""},
		{"POST", "/v1/import", "{}", 415, "unsupported-media-type", ""},
	} {
		name := c.method + " " + c.path + " " + c.body[:min(60, len(c.body))]
		t.Run(name, func(t *testing.T) {
			w := ask(h, c.method, c.path, c.body)
			p := problem(t, w, c.status, c.kind, c.field)
			if len(p.Detail) > 300 {
				t.Errorf("a long detail: %q", p.Detail)
			}
			if c.status == 405 && w.Header().Get("Allow") == "" {
				t.Error("no Allow")
			}
		})
	}
}

func TestAmbiguousAndLocked(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	h := serve.New(serve.Options{Services: serve.Services{Reader: twins{}}})
	problem(t, ask(h, "GET", "/v1/memories/abcd", ""), 409, "ambiguous", "")
	if err := n.Services().Keys.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	h = serve.New(serve.Options{Services: n.Services()})
	problem(t, ask(h, "GET", "/v1/memories/abcd", ""), 423, "locked", "")
	problem(t, ask(h, "POST", "/v1/unlock", `{"passphrase":"no"}`), 403, "wrong-passphrase", "")
}

type twins struct{ serve.Reader }

func (twins) Resolve(_ context.Context, text string) (memory.ID, error) {
	return memory.ID{}, fmt.Errorf("%w: id %s fits 2 memories", memory.ErrAmbiguous, text)
}

// failing fails where no failure is expected.
type failing struct {
	serve.Diagnostics
	serve.Exchange
}

var errSecretly = errors.New("the text of a memory")

func (failing) Status(context.Context) (serve.Status, error) { return serve.Status{}, errSecretly }

func (failing) Changes(context.Context, uint64, bool) iter.Seq2[memory.Change, error] {
	return func(yield func(memory.Change, error) bool) {
		_ = yield(memory.Change{Seq: 1}, nil) && yield(memory.Change{}, errSecretly)
	}
}

func (failing) Export(context.Context, serve.ExportOptions) iter.Seq2[serve.ExportRecord, error] {
	return func(yield func(serve.ExportRecord, error) bool) {
		yield(serve.ExportRecord{Kind: archive.KindHeader, Data: json.RawMessage("{}")}, nil)
	}
}

// An unexpected error is reported without its text; within a stream, by its last
// line; and an export without its end is an error.
func TestFailures(t *testing.T) {
	h := serve.New(serve.Options{Services: serve.Services{Diagnostics: failing{}, Exchange: failing{}}})
	w := ask(h, "GET", "/v1/status", "")
	problem(t, w, 500, "internal", "")
	if strings.Contains(w.Body.String(), errSecretly.Error()) {
		t.Fatal(w.Body)
	}
	c := serve.InProcess(h)
	defer c.Close()
	var seen int
	var last error
	for ch, err := range c.Changes(t.Context(), 0, false) {
		if last = err; err == nil {
			seen += int(ch.Seq)
		}
	}
	if p, ok := errors.AsType[*serve.Problem](last); !ok || p.Status != 500 || seen != 1 {
		t.Fatalf("after %d: %v", seen, last)
	}
	if _, err := archive.Check(c.Export(t.Context(), serve.ExportOptions{}), nil); !errors.Is(err, memory.ErrInvalid) {
		t.Fatalf("an export that is cut off: %v", err)
	}
}

// Neither the log nor the metrics contain what was said.
func TestLogsAndMetricsHaveNoContent(t *testing.T) {
	var log bytes.Buffer
	reg := prometheus.NewRegistry()
	n := nodetest.New(t, nodetest.Cheap)
	c := serve.InProcess(serve.New(serve.Options{Services: n.Services(), Registry: reg, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}))
	defer c.Close()
	ctx := t.Context()
	said := []string{"purple elephants", "Tr0ut-pine-88", nodetest.Passphrase, "glasses"}
	if _, err := c.Add(ctx, serve.AddRequest{Text: "purple elephants, and my password is Tr0ut-pine-88"}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		second(c.Search(ctx, serve.SearchRequest{Query: "purple elephants"})),
		second(c.Unlock(ctx, nodetest.Passphrase)),
		second(c.AddDevice(ctx, "glasses")),
		second(c.RemoveDevice(ctx, "glasses")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Unlock(ctx, nodetest.Passphrase+", but wrong"); err == nil {
		t.Fatal("a wrong passphrase is taken")
	}
	metrics, err := c.Metrics(ctx)
	if err != nil || !strings.Contains(string(metrics), `locket_api_requests_total{method="POST",path="/v1/search",status="200"} 1`) {
		t.Fatalf("%s %v", metrics, err)
	}
	if strings.Count(log.String(), "\n") < 6 {
		t.Fatalf("the log has too little to tell:\n%s", log.String())
	}
	for _, s := range said {
		if strings.Contains(log.String(), s) || strings.Contains(string(metrics), s) {
			t.Errorf("%q is in the log or the metrics", s)
		}
	}
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s %q", token, token, token, token, token), slog.AnyValue(token).Resolve().String()} {
		if strings.Contains(shown, string(token)) {
			t.Errorf("a secret is shown: %s", shown)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A plan can be confirmed for ten minutes, and the seventeenth replaces the
// first.
func TestPlansExpire(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	n := nodetest.New(t, nodetest.Cheap)
	c := serve.InProcess(serve.New(serve.Options{Services: n.Services(), Now: func() time.Time { return now }}))
	defer c.Close()
	plan := func() string {
		a, err := c.PlanForget(t.Context(), serve.ForgetRequest{Query: "x"})
		if err != nil || !a.Expires.Equal(now.Add(serve.PlanTTL)) {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Confirm
	}
	gone := func(token string) {
		t.Helper()
		_, err := c.Forget(t.Context(), token)
		if p, ok := errors.AsType[*serve.Problem](err); !ok || p.Status != http.StatusGone {
			t.Fatalf("%v", err)
		}
	}
	good, late := plan(), plan()
	now = now.Add(serve.PlanTTL - 1)
	if _, err := c.Forget(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	gone(good) // a plan is good for one use
	now = now.Add(1)
	gone(late)
	first := plan()
	for range 16 {
		plan()
	}
	gone(first)
}

func FuzzRequests(f *testing.F) {
	f.Add("/v1/memories", `{"text":"My home is Lyon","infer":true,"at":"2026-01-01T00:00:00Z"}`)
	f.Add("/v1/memories", `{"text":"x","infer":false,"type":"core","fields":{"core":{"block":"b","limit":3}},"slot":{"subject":"a","attribute":"b","value":"c"}}`)
	f.Add("/v1/search", `{"query":"home","k":3,"types":["core"],"as_of":"2026-01-01T00:00:00Z","threshold":0.5}`)
	f.Add("/v1/forget", `{"ids":["0000"],"plan":true}`)
	f.Add("/v1/pause", `{"for":"30d"}`)
	f.Add("/v1/unlock", `{"passphrase":"x"}`)
	f.Add("/v1/vault/unlock", `{"ttl":"5m"}`)
	f.Add("/v1/devices", `{"name":"glasses"}`)
	f.Add("/v1/memories?limit=3", ``)
	n := nodetest.New(f, nodetest.Cheap)
	nodetest.Hear(f, n, time.Now(), "", "My home is Lyon") // starts the extractors, for which an input leaves no time
	handler := serve.New(serve.Options{Services: n.Services()})
	f.Fuzz(func(t *testing.T, path, body string) {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \x00\r\n\t") {
			t.Skip()
		}
		r, err := http.NewRequest("POST", "http://localhost"+path, strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if err := n.Services().Keys.Unlock(t.Context(), nodetest.Passphrase); err != nil { // for the next input, if this one locked it
			t.Fatal(err)
		}
		if w.Code >= 500 && w.Code != http.StatusNotImplemented {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Code >= 400 {
			var p serve.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code || !strings.HasPrefix(p.Type, "urn:locket:problem:") {
				t.Fatalf("%d %s: %v", w.Code, w.Body, err)
			}
		}
	})
}

func FuzzImport(f *testing.F) {
	f.Add(`{"kind":"header","data":{}}` + "\n" + `{"kind":"end","data":{}}`)
	f.Add(`{"kind":"memory","data":{"text":"x"}}`)
	c := serve.InProcess(serve.New(serve.Options{Services: nodetest.New(f, nodetest.Cheap).Services()}))
	f.Cleanup(func() { c.Close() })
	f.Fuzz(func(t *testing.T, body string) {
		_, err := c.Import(t.Context(), strings.NewReader(body), serve.ImportOptions{Unsigned: true})
		if p, ok := errors.AsType[*serve.Problem](err); err != nil && (!ok || p.Status >= 500) {
			t.Fatal(err)
		}
	})
}
