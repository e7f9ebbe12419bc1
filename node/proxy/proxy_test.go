package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/proxy"
	"github.com/locket-dev/locket/node/serve"
)

// apps is serve.Apps with two keys, one for each app.
type all = serve.Apps

type apps struct{ all }

func (apps) Admit(ctx context.Context, key serve.Secret) (serve.Caller, context.Context, func(), error) {
	if key != "lka_right" && key != "lka_other" {
		return nil, nil, nil, serve.ErrKey
	}
	return app{string(key)}, ctx, func() {}, nil
}

type app struct{ name string }

func (a app) Name() string { return a.name }

func (app) May(_ context.Context, right serve.Right, _ string) error {
	if right == serve.RightAdd {
		return fmt.Errorf("%w: app may not add", serve.ErrForbidden)
	}
	return nil
}

// recaller remembers one thing.
type recaller struct {
	serve.Recaller
	asked *serve.ContextRequest
	err   error
}

func (r recaller) Context(_ context.Context, q serve.ContextRequest) (serve.ContextResult, error) {
	*r.asked = q
	return serve.ContextResult{Text: "[a1] Ana likes green tea", Items: []serve.ContextItem{{ID: memory.ID{1}}}}, r.err
}

// bench is a node in front of a model server.
type bench struct {
	api   http.Handler
	asked serve.ContextRequest
	got   string // body that the model server was sent
	path  string
}

func newBench(t *testing.T, wrong error, model http.HandlerFunc) *bench {
	b := &bench{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		b.got, b.path = string(body), r.URL.String()
		model(w, r)
	}))
	t.Cleanup(upstream.Close)
	s := serve.Services{Apps: apps{}, Recaller: recaller{nil, &b.asked, wrong}}
	b.api = serve.New(serve.Options{Services: s, ForApps: func(api http.Handler) map[string]serve.Door {
		return proxy.Doors(proxy.Config{URL: upstream.URL, Learn: true}, api)
	}})
	return b
}

func (b *bench) ask(method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if len(header) == 0 {
		header = []string{"Authorization", "Bearer lka_right"}
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, r)
	return w
}

const block = `{"role":"system","content":"Locket, the memory`

// What is remembered is put after the system's own messages; everything else is passed on as
// it came.
func TestContextIsInsertedIntoTheBody(t *testing.T) {
	b := newBench(t, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	for body, want := range map[string][]string{
		`{"messages":[{"role":"user","content":"tea?","x":1}],"n":1e3}`:                                         {block, `{"role":"user","content":"tea?","x":1}]`, `"n":1e3`},
		`{"messages":[{"role":"system","content":"Be short"},{"role":"user","content":"tea?"}]}`:                {`[{"role":"system","content":"Be short"},` + block},
		`{"messages":[{"role":"user","content":[{"type":"text","text":"tea?"},{"type":"image_url"}]}]}`:         {block, `{"type":"image_url"}`},
		`{"messages":[{"role":"user","content":"tea?"},{"role":"assistant","content":null,"tool_calls":[{}]}]}`: {block, `"tool_calls":[{}]`},
		`{"messages":[]}`: {`{"messages":[]}`},
		`{"messages":[{"role":"system","content":"x"}]}`: {`{"messages":[{"role":"system","content":"x"}]}`},
	} {
		if w := b.ask("POST", "/v1/chat/completions", body); w.Code != 200 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		for _, s := range want {
			if !strings.Contains(b.got, s) {
				t.Errorf("%s became\n%s, want %s", body, b.got, s)
			}
		}
	}
	if w := b.ask("POST", "/api/generate?x=1", `{"prompt":"tea?","system":"Be short"}`); w.Header().Get(proxy.UsedHeader) != (memory.ID{1}).String() || !strings.Contains(b.got, `"system":"Be short\n\nLocket`) || b.path != "/api/generate" {
		t.Errorf("%v %s %s", w.Header(), b.got, b.path)
	}
	for body, want := range map[string][]string{
		`{"input":"tea?","n":1e3}`: {`"instructions":"Locket, the memory`, `"input":"tea?"`, `"n":1e3`},
		`{"input":[{"role":"developer","content":"x"},{"type":"reasoning"},{"role":"user","content":[{"type":"input_text","text":"tea?"},{"type":"input_image"}]}],"instructions":"Be short","tools":[{"type":"function","name":"f"}]}`: {
			`"instructions":"Be short\n\nLocket`, `{"type":"input_image"}`, `"name":"f"`},
		`{"input":[{"type":"function_call_output","call_id":"c","output":"tea?"}],"instructions":null,"previous_response_id":"r"}`: {`"instructions":null`, `"output":"tea?"`},
	} {
		if w := b.ask("POST", "/v1/responses", body); w.Code != 200 || b.path != "/v1/responses" {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		for _, s := range want {
			if !strings.Contains(b.got, s) {
				t.Errorf("%s became\n%s, want %s", body, b.got, s)
			}
		}
	}
	for path, bodies := range map[string][]string{
		"/v1/responses":        {`{}`, `{"input":1}`, `{"input":[1]}`, `{"input":[{"role":"user","content":1}]}`, `{"input":"x","instructions":1}`, `{"input":"x","tools":1}`, `{"input":"x","tools":[{"type":"file_search","vector_store_ids":["a"]}]}`},
		"/v1/chat/completions": {``, `null`, `[]`, `{`, `{"messages":{}}`, `{"messages":[1]}`, `{"messages":[{"role":1}]}`, `{"messages":[{"role":"user","content":1}]}`, `{}`},
		"/api/chat":            {`{"messages":"x"}`},
		"/api/generate":        {`{"prompt":1}`, `{"prompt":"x","raw":"y"}`},
	} {
		for _, body := range bodies {
			b.got = ""
			if w := b.ask("POST", path, body); w.Code != 400 || !strings.Contains(w.Body.String(), `"error"`) || b.got != "" {
				t.Errorf("%s %s: %d %s", path, body, w.Code, w.Body)
			}
		}
	}
	if w := b.ask("POST", "/v1/chat/completions", `{"x":"`+strings.Repeat("a", proxy.MaxBody)+`"}`); w.Code != 413 {
		t.Errorf("%d", w.Code)
	}
}

// A refusal is worded in the protocol of the caller, and nothing is passed on.
func TestRefusals(t *testing.T) {
	b := newBench(t, fmt.Errorf("%w: 5 tokens of today are left", serve.ErrLimit), func(http.ResponseWriter, *http.Request) { t.Error("the model is asked") })
	for path, want := range map[string]string{"/v1/chat/completions": `{"error":{"code":null,"message":"`, "/api/chat": `{"error":"`} {
		w := b.ask("POST", path, `{"messages":[{"role":"user","content":"tea?"}]}`)
		if w.Code != 429 || !strings.HasPrefix(w.Body.String(), want) || !strings.Contains(w.Body.String(), "tokens of today") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// An app with many large bodies takes only its share of the memory, and that of others stays.
func TestThreatLargeBodies(t *testing.T) {
	asked, answer := make(chan bool, 20), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- true
		<-answer
	}))
	t.Cleanup(upstream.Close)
	b := &bench{api: serve.New(serve.Options{Services: serve.Services{Apps: apps{}}, ForApps: func(api http.Handler) map[string]serve.Door {
		return proxy.Doors(proxy.Config{URL: upstream.URL}, api)
	}})}
	send := func(key string, size int) *httptest.ResponseRecorder {
		body := `{"messages":[{"role":"system","content":"` + strings.Repeat("x", size) + `"}]}`
		return b.ask("POST", "/v1/chat/completions", body, "Authorization", "Bearer "+key)
	}
	codes := make(chan int, 20)
	for range 4 {
		go func() { codes <- send("lka_right", 7<<20).Code }()
		<-asked
	}
	w := send("lka_right", 7<<20)
	if w.Code != 429 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "its other requests") {
		t.Errorf("a fifth: %d %v %.200s", w.Code, w.Header(), w.Body)
	}
	go func() { codes <- send("lka_other", 15<<20).Code }()
	<-asked
	close(answer)
	for range 5 {
		if code := <-codes; code != 200 {
			t.Errorf("%d", code)
		}
	}
	if w := send("lka_right", proxy.MaxBody-100); w.Code != 200 {
		t.Errorf("after the answers: %d %.200s", w.Code, w.Body)
	}
}

// What the model server answers apart from its words is not trusted: it can't redirect
// anybody, set a cookie, or admit a web page.
func TestAnswers(t *testing.T) {
	b := newBench(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
			return
		}
		for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Origin", proxy.UsedHeader} {
			w.Header().Set(name, "x")
		}
		w.Header().Set("Openai-Processing-Ms", "5")
		_, _ = io.WriteString(w, "{}")
	})
	if w := b.ask("GET", "/api/tags", ""); w.Code != 502 || w.Header().Get("Location") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w := b.ask("GET", "/v1/models", "")
	if h := w.Header(); w.Code != 200 || h.Get("Set-Cookie")+h.Get("Access-Control-Allow-Origin")+h.Get(proxy.UsedHeader) != "" || h.Get("Openai-Processing-Ms") != "5" {
		t.Errorf("%d %v", w.Code, h)
	}
}

// The key may be in the address, for programs that can be given nothing else; another key in
// addition to it admits nobody.
func TestKeyInPath(t *testing.T) {
	b := newBench(t, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	for path, want := range map[string]int{"/k/lka_right/api/tags": 200, "/k/lka_wrong/api/tags": 401, "/k/lka_right": 404, "/k/other/api/tags": 404, "/k/lka_right/k/lka_right/api/tags": 404,
		"/k/lka_right/v1/models/../../api/delete": 404, "/k/lka_right/v1/models/..%2f..%2fapi/delete": 404} {
		if w := b.ask("GET", path, "", "Authorization", "Bearer ollama"); w.Code != want && !(want == 404 && w.Code/100 == 3) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := b.ask("GET", "/k/lka_right/api/tags", "", "Authorization", "Bearer lka_wrong"); w.Code == 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := b.ask("GET", "/k/lka_wrong/api/tags", ""); w.Code == 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Without a model server, the answer names the setting, in the form of the caller's protocol.
func TestNoModelServer(t *testing.T) {
	b := &bench{api: serve.New(serve.Options{Services: serve.Services{Apps: apps{}}, ForApps: func(api http.Handler) map[string]serve.Door {
		return proxy.Doors(proxy.Config{}, api)
	}})}
	for path, want := range map[string]string{"/v1/chat/completions": `{"error":{"code":null,"message":"this node has no model server: proxy.url`, "/api/chat": `{"error":"this node has no model server: proxy.url`} {
		if w := b.ask("POST", path, `{"model":"m","messages":[]}`); w.Code != http.StatusNotImplemented || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// A model that breaks off looks to the client like one, and not like an answer that has ended.
func TestModelBreaksOff(t *testing.T) {
	b := newBench(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[]}\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	node := httptest.NewServer(b.api)
	defer node.Close()
	r, err := http.NewRequestWithContext(t.Context(), "POST", node.URL+"/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer lka_right")
	res, err := node.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != io.ErrUnexpectedEOF || !strings.HasPrefix(string(got), "data: ") {
		t.Errorf("%q, %v", got, err)
	}
}
