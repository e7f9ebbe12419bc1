package apps_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/mem0"
	"github.com/locket-dev/locket/node/proxy"
	"github.com/locket-dev/locket/node/serve"
)

// doors is a node with all its interfaces for apps: the API, Mem0's, the Model Context Protocol's
// and the model proxy.
type doors struct {
	*home
	went int // bodies that reached the model
}

func newDoors(t *testing.T) *doors {
	t.Helper()
	d := &doors{home: newHome(t, nodetest.Cheap)}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		d.went++
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(model.Close)
	d.api = serve.New(serve.Options{Services: d.node.Services(), ForApps: func(api http.Handler) map[string]serve.Door {
		all := proxy.Doors(proxy.Config{URL: model.URL}, api)
		all["/mcp"], all[mem0.Prefix+"/"] = serve.Door{Handler: mcp.Handler(api, "test")}, serve.Door{Handler: mem0.Handler(api)}
		return all
	}})
	return d
}

// all returns a request with every right that the interfaces use.
func all(name string) serve.AppRequest {
	return serve.AppRequest{Name: name, Can: []serve.Right{serve.RightRead, serve.RightAdd, serve.RightUpdate, serve.RightForget, serve.RightChat},
		Types: []string{"semantic", "episodic"}, Requests: 10_000, Tokens: 10_000_000}
}

func (d *doors) key(t *testing.T, r serve.AppRequest) string {
	t.Helper()
	n, err := d.AddApp(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return string(n.Key)
}

// ask returns the answer's text, its status, and whether something was refused. Each answer is
// JSON.
func (d *doors) ask(t *testing.T, key, method, path, body string) (text string, status int, refused bool) {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	text, status, refused = w.Body.String(), w.Code, w.Code >= 400
	if status >= 500 {
		t.Errorf("%s %s %.200s: %d %.300s", method, path, body, status, text)
	}
	if path == "/mcp" {
		var answer struct {
			Error  any
			Result struct{ IsError bool }
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil && !refused && text != "" { // a notification has no answer
			t.Errorf("%s %.200s: %d %.300s", path, body, status, text)
		}
		return text, status, refused || answer.Error != nil || answer.Result.IsError
	}
	if len(text) > 0 && !json.Valid([]byte(text)) {
		t.Errorf("%s %s %.200s: %d %.300s", method, path, body, status, text)
	}
	return text, status, refused
}

// count returns how many memories there are, in any state.
func (d *doors) count(t *testing.T) int {
	t.Helper()
	page, err := d.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: serve.MaxPage})
	if err != nil || page.Next != "" {
		t.Fatal(page.Next, err)
	}
	return len(page.Memories)
}

func tool(name, arguments string) string {
	return `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "` + name + `", "arguments": ` + arguments + `}}`
}

// long makes a text longer, so that a body has several hundred bytes.
var long = strings.Repeat(" and the other way round, as it was said before", 6)

// requests returns valid requests, one for each kind of body of each interface.
func requests() [][3]string {
	filters := `{"AND": [{"user_id": "ann"}, {"NOT": {"metadata": {"a": "b"}}}]}`
	own := `{"AND": [{"user": "ann"}, {"NOT": {"metadata.a": "b"}}]}`
	chat := `{"model": "tiny", "messages": [{"role": "system", "content": "Be short"}, {"role": "user", "content": "Where is the kayak` + long + `"}], "stream": false}`
	return [][3]string{
		{"POST", "/v1/memories", `{"text": "The kayak is red` + long + `", "infer": false, "type": "semantic", "user": "ann", "tags": ["boat"], "metadata": {"a": "b"}, "key": "k1"}`},
		{"POST", "/v1/memories/batch", `{"operations": [{"add": {"text": "The sail is red` + long + `", "infer": false, "user": "ann"}}]}`},
		{"POST", "/v1/search", `{"query": "kayak` + long + `", "k": 3, "filters": ` + own + `}`},
		{"POST", "/v1/ask", `{"question": "where is the kayak` + long + `", "filters": ` + own + `}`},
		{"POST", "/v1/context", `{"topic": "kayak` + long + `", "budget": 500, "filters": ` + own + `}`},
		{"POST", "/mem0/v3/memories/add/", `{"messages": [{"role": "user", "content": "The oar is long` + long + `"}], "user_id": "ann", "infer": false, "metadata": {"a": {"b": [1, "x"]}}}`},
		{"POST", "/mem0/v3/memories/search/", `{"query": "kayak` + long + `", "top_k": 3, "threshold": 0.1, "fields": ["memory"], "filters": ` + filters + `}`},
		{"POST", "/mem0/v3/memories/", `{"filters": ` + filters + `, "fields": ["memory", "id", "user_id"], "categories": ["` + long + `"]}`},
		{"POST", "/mem0/memories", `{"messages": [{"role": "user", "content": "The mast is tall` + long + `"}], "user_id": "ann", "infer": false}`},
		{"POST", "/mem0/search", `{"query": "kayak` + long + `", "user_id": "ann", "filters": ` + filters + `}`},
		{"POST", "/mcp", tool("add_memory", `{"text": "The rudder is new`+long+`", "user_id": "ann", "metadata": {"a": "b"}}`)},
		{"POST", "/mcp", tool("search_memories", `{"query": "kayak`+long+`", "limit": 3, "user_id": "ann", "filters": `+own+`}`)},
		{"POST", "/mcp", tool("get_memories", `{"limit": 3, "user_id": "ann", "filters": `+own+`}`)},
		{"POST", "/mcp", tool("get_context", `{"topic": "kayak`+long+`"}`)},
		{"POST", "/v1/chat/completions", chat},
		{"POST", "/api/chat", chat},
		{"POST", "/api/generate", `{"model": "tiny", "prompt": "Where is the kayak` + long + `", "system": "Be short", "stream": false}`},
		{"POST", "/v1/responses", `{"model": "tiny", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Where is the kayak` + long + `"}]}], "instructions": "Be short"}`},
	}
}

// A body that is cut off at any 100th byte is refused by each interface, has no effect, and does
// not reach a model. The complete body is accepted.
func TestBodiesCutOff(t *testing.T) {
	d := newDoors(t)
	key := d.key(t, all("cutter"))
	for _, q := range requests() {
		for n := 100; n < len(q[2]); n += 100 {
			if text, status, refused := d.ask(t, key, q[0], q[1], q[2][:n]); !refused {
				t.Errorf("%s cut at %d: %d %.200s", q[1], n, status, text)
			}
		}
		if text, status, refused := d.ask(t, key, q[0], q[1], q[2][:len(q[2])-1]); !refused {
			t.Errorf("%s without its last byte: %d %.200s", q[1], status, text)
		}
	}
	if n := d.count(t); n != 0 || d.went != 0 {
		t.Errorf("%d memories, and %d bodies at the model", n, d.went)
	}
	for _, q := range requests() {
		if text, status, refused := d.ask(t, key, q[0], q[1], q[2]); refused {
			t.Errorf("%s %s: %d %.300s", q[1], q[2], status, text)
		}
	}
}

// replaced yields a value with each of its parts, in turn, replaced by each of the forms.
func replaced(v any, forms []any, yield func(any)) {
	for _, f := range forms {
		yield(f)
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			replaced(e, forms, func(to any) {
				m := map[string]any{}
				for k, e := range v {
					m[k] = e
				}
				m[k] = to
				yield(m)
			})
		}
	case []any:
		for i, e := range v {
			replaced(e, forms, func(to any) { yield(append(append(append([]any{}, v[:i]...), to), v[i+1:]...)) })
		}
	}
}

// Each field of each body is sent with another type: a refused request has no effect, and the node
// answers each one with a text.
func TestWrongTypes(t *testing.T) {
	d := newDoors(t)
	key := d.key(t, all("typist"))
	forms := []any{nil, true, -1, json.Number("9223372036854775808"), json.Number("1e400"), "", "x", []any{}, []any{nil}, map[string]any{}, map[string]any{"x": []any{1}}}
	took := 0
	for _, q := range requests() {
		var v any
		if err := json.Unmarshal([]byte(q[2]), &v); err != nil {
			t.Fatal(q[2], err)
		}
		before := d.count(t)
		replaced(v, forms, func(to any) {
			b, err := json.Marshal(to)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, refused := d.ask(t, key, q[0], q[1], string(b)); !refused {
				took++
				before = d.count(t)
			} else if n := d.count(t); n != before {
				t.Errorf("%s %.200s is refused, and %d memories became %d", q[1], b, before, n)
				before = n
			}
		})
	}
	t.Logf("%d of them were taken", took)
}

// Input that is too large, too deep or has too many terms is refused by each interface.
func TestTooMuch(t *testing.T) {
	d := newDoors(t)
	key := d.key(t, all("glutton"))
	terms := func(n int, term string) string {
		return `{"OR": [` + strings.TrimSuffix(strings.Repeat(term+",", n), ",") + `]}`
	}
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	for path, body := range map[string]func(string) string{
		"/v1/search":                func(f string) string { return `{"query": "x", "filters": ` + f + `}` },
		"/mem0/v3/memories/search/": func(f string) string { return `{"query": "x", "filters": ` + f + `}` },
		"/mem0/search":              func(f string) string { return `{"query": "x", "filters": ` + f + `}` },
		"/mcp":                      func(f string) string { return tool("search_memories", `{"query": "x", "filters": `+f+`}`) },
	} {
		for what, f := range map[string]string{"a million terms": terms(1_000_000, `{"user_id":"a"}`), "as many as a body holds": terms(30_000, `{"user":"a"}`), "deep": deep} {
			if text, status, refused := d.ask(t, key, "POST", path, body(f)); !refused {
				t.Errorf("%s with filters, %s: %d %.200s", path, what, status, text)
			}
		}
	}
	large := strings.Repeat("x", 10<<20)
	for _, q := range requests() {
		body := strings.Replace(q[2], long, large, 1)
		if strings.HasPrefix(q[1], "/v1/chat") || strings.HasPrefix(q[1], "/v1/resp") || strings.HasPrefix(q[1], "/api/") {
			body = strings.Replace(q[2], long, strings.Repeat("x", proxy.MaxBody), 1)
		}
		if len(body) < 10<<20 {
			continue // it has no long text
		}
		if text, status, refused := d.ask(t, key, q[0], q[1], body); !refused || status != http.StatusRequestEntityTooLarge && q[1] != "/mcp" {
			t.Errorf("%s of %d bytes: %d %.200s", q[1], len(body), status, text)
		}
		if text, status, refused := d.ask(t, key, q[0], q[1], deep); !refused {
			t.Errorf("%s deep: %d %.200s", q[1], status, text)
		}
	}
	for _, q := range [][3]string{
		{"GET", "/v1/memories?limit=9223372036854775808", ""}, {"GET", "/v1/memories?skip=9223372036854775808", ""}, {"GET", "/v1/memories?cursor=9223372036854775808", ""},
		{"GET", "/v1/changes?after=18446744073709551616", ""},
		{"POST", "/mem0/v3/memories/?page=9223372036854775808", "{}"}, {"POST", "/mem0/v3/memories/?page_size=9223372036854775808", "{}"}, {"GET", "/mem0/v1/entities/?page=9223372036854775808", ""},
		{"GET", "/mem0/memories?top_k=9223372036854775808", ""},
		{"POST", "/mcp", tool("get_memories", `{"cursor": "9223372036854775808"}`)}, {"POST", "/mcp", tool("get_memories", `{"limit": 9223372036854775808}`)},
		{"POST", "/mcp", tool("search_memories", `{"query": "x", "limit": 9223372036854775808}`)},
	} {
		if text, status, refused := d.ask(t, key, q[0], q[1], q[2]); !refused {
			t.Errorf("%s %s: %d %.200s", q[1], q[2], status, text)
		}
	}
	if n := d.count(t); n != 0 || d.went != 0 {
		t.Errorf("%d memories, and %d bodies at the model", n, d.went)
	}
}

// In each interface, a memory of another owner looks like one that does not exist.
func TestOtherOwnersIDs(t *testing.T) {
	d := newDoors(t)
	r := plain("Bob hides the spare key under the blue pot")
	r.User = "bob"
	id := d.add(t, d.Client, r)
	ann := all("ann")
	ann.Owner.User = "ann"
	key := d.key(t, ann)
	uuid := func(id memory.ID) string {
		return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	}
	none := id
	none[15] ^= 0xff
	none[0] ^= 1
	for _, q := range [][3]string{
		{"GET", "/v1/memories/ID", ""}, {"GET", "/v1/memories/ID/history", ""}, {"GET", "/v1/memories/ID/why", ""}, {"GET", "/v1/memories/ID/media", ""},
		{"PATCH", "/v1/memories/ID", `{"text": "x"}`}, {"DELETE", "/v1/memories/ID", ""}, {"GET", "/v1/owners", ""},
		{"POST", "/v1/memories/batch", `{"operations": [{"id": "ID", "update": {"text": "x"}}, {"id": "ID", "delete": true}]}`},
		{"POST", "/v1/search", `{"query": "where is the spare key", "filters": {"id": "ID"}}`}, {"POST", "/v1/ask", `{"question": "where is the spare key"}`},
		{"GET", "/mem0/v1/memories/UUID/", ""}, {"PUT", "/mem0/v1/memories/UUID/", `{"text": "x"}`}, {"DELETE", "/mem0/v1/memories/UUID/", ""}, {"GET", "/mem0/v1/memories/UUID/history/", ""},
		{"PUT", "/mem0/v1/batch/", `{"memories": [{"memory_id": "UUID", "text": "x"}]}`}, {"DELETE", "/mem0/v1/batch/", `{"memories": [{"memory_id": "UUID"}]}`},
		{"POST", "/mem0/v3/memories/", `{"filters": {"memory_ids": ["UUID"]}}`}, {"POST", "/mem0/v3/memories/", `{"filters": {"user_id": "bob"}}`}, {"DELETE", "/mem0/v1/memories/?user_id=bob", ""},
		{"GET", "/mem0/memories/UUID", ""}, {"PUT", "/mem0/memories/UUID", `{"text": "x"}`}, {"DELETE", "/mem0/memories/UUID", ""},
		{"POST", "/mcp", tool("get_memory", `{"memory_id": "ID"}`)}, {"POST", "/mcp", tool("update_memory", `{"memory_id": "ID", "text": "x"}`)},
		{"POST", "/mcp", tool("delete_memory", `{"memory_id": "ID"}`)}, {"POST", "/mcp", tool("forget", `{"memory_ids": ["ID"]}`)}, {"POST", "/mcp", tool("fetch", `{"id": "ID"}`)},
		{"POST", "/mcp", tool("search_memories", `{"query": "where is the spare key", "user_id": "bob"}`)},
		{"POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "memory://ID"}}`},
	} {
		say := func(id memory.ID) string {
			fill := strings.NewReplacer("UUID", uuid(id), "ID", id.String())
			text, status, _ := d.ask(t, key, q[0], fill.Replace(q[1]), fill.Replace(q[2]))
			var p struct{ Instance string }
			_ = json.Unmarshal([]byte(text), &p) // an answer that is not a problem has no instance
			return fmt.Sprint(status, " ", strings.NewReplacer(uuid(id), "UUID", id.String(), "ID", id.String()[:10], "ID").Replace(text))
		}
		if there, not := say(id), say(none); there != not || strings.Contains(there, "pot") {
			t.Errorf("%s %s %s: of another owner\n%s\nof nobody\n%s", q[0], q[1], q[2], there, not)
		}
	}
	d.ask(t, key, "POST", "/v1/chat/completions", `{"messages": [{"role": "user", "content": "where is the spare key"}]}`)
	if l, err := d.AppLog(t.Context(), "ann", 100); err != nil {
		t.Error(err)
	} else {
		for _, e := range l.Entries {
			if len(e.Shown)+len(e.Wrote) > 0 {
				t.Errorf("%+v", e)
			}
		}
	}
	if m, err := d.Get(t.Context(), id.String()); err != nil || m.Text != r.Text || m.State != memory.Active {
		t.Errorf("%+v, %v", m, err)
	}
	// What another app added through Mem0's API is not an event of this one.
	text, _, _ := d.ask(t, d.key(t, all("other")), "POST", "/mem0/v3/memories/add/", `{"messages": "The oar is long", "infer": false, "user_id": "ann"}`)
	var made struct {
		ID string `json:"event_id"`
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.ID == "" {
		t.Fatal(text, err)
	}
	there, _, _ := d.ask(t, key, "GET", "/mem0/v1/event/"+made.ID+"/", "")
	not, status, _ := d.ask(t, key, "GET", "/mem0/v1/event/"+uuid(none)+"/", "")
	if there != not || status != http.StatusNotFound {
		t.Errorf("%s\n%s", there, not)
	}
}
