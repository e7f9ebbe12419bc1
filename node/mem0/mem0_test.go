package mem0_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/mem0"
	"github.com/locket-dev/locket/node/serve"
)

// one is serve.Apps with one key.
type one struct{ services }

type services = serve.Apps

func (one) Admit(ctx context.Context, key serve.Secret) (serve.Caller, context.Context, func(), error) {
	if key != "lka_right" {
		return nil, nil, nil, serve.ErrKey
	}
	return app{}, ctx, func() {}, nil
}

type app struct{}

func (app) Name() string { return "app" }

func (app) May(context.Context, serve.Right, string) error { return nil }

func TestMain(m *testing.M) { nodetest.Main(m) }

func newAPI(t *testing.T) http.Handler {
	s := nodetest.New(t, nodetest.Cheap).Services()
	s.Apps = one{}
	return serve.New(serve.Options{Services: s, ForApps: func(api http.Handler) map[string]serve.Door {
		return map[string]serve.Door{mem0.Prefix + "/": {Handler: mem0.Handler(api)}}
	}})
}

// ask returns an answer's status and its JSON, which every answer has.
func ask(t *testing.T, api http.Handler, method, path, body string, header ...string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+mem0.Prefix+path, strings.NewReader(body))
	if len(header) == 0 {
		header = []string{"Authorization", "Token lka_right"}
	}
	r.Header.Set(header[0], header[1])
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s %s: %d %q: %v", method, path, w.Code, w.Body, err)
	}
	m, _ := v.(map[string]any) // otherwise it is a list
	return w.Code, m
}

func TestKeys(t *testing.T) {
	api := newAPI(t)
	for _, h := range [][]string{{"Authorization", "Token lka_right"}, {"Authorization", "Bearer lka_right"}, {"X-API-Key", "lka_right"}} {
		if code, m := ask(t, api, "GET", "/v1/ping/", "", h...); code != 200 || m["status"] != "ok" || strings.Contains(fmt.Sprint(m["user_email"]), "@") {
			t.Errorf("%v: %d %v", h, code, m)
		}
	}
	for _, h := range [][]string{{"Authorization", "Token lka_wrong"}, {"Authorization", "Basic lka_right"}, {"X-API-Key", ""}, {"Accept", "*/*"}} {
		if code, m := ask(t, api, "GET", "/v1/ping/", "", h...); code != 401 {
			t.Errorf("%v: %d %v", h, code, m)
		}
	}
}

// The self-hosted server's calls, and the answers to faulty requests.
func TestSelfHosted(t *testing.T) {
	api := newAPI(t)
	code, m := ask(t, api, "POST", "/memories", `{"messages":[{"role":"user","content":"The red kayak lies in Lindau"},{"role":"system","content":"be brief"}],"user_id":"ann","infer":false,"metadata":{"n":1.50}}`)
	list, _ := m["results"].([]any)
	if code != 200 || len(list) != 1 {
		t.Fatalf("%d %v", code, m)
	}
	id := list[0].(map[string]any)["id"].(string)
	if len(id) != 36 {
		t.Errorf("%s is no UUID", id)
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/memories/" + id, "", "Lindau"},
		{"GET", "/memories/" + id, "", "n:1.5"},
		{"GET", "/memories?user_id=ann", "", "Lindau"},
		{"POST", "/search", `{"query":"kayak","user_id":"ann"}`, "Lindau"},
		{"PUT", "/memories/" + id, `{"data":"The red kayak lies in Bregenz"}`, "Bregenz"},
		{"GET", "/memories/" + id + "/history", "", "ADD"},
		{"DELETE", "/memories/" + id, "", "deleted"},
	} {
		if code, m := ask(t, api, c.method, c.path, c.body); code != 200 || !strings.Contains(fmt.Sprint(m), c.want) {
			t.Errorf("%s %s: %d %v", c.method, c.path, code, m)
		}
	}
	if code, m := ask(t, api, "GET", "/memories?user_id=bob", ""); code != 200 || len(m["results"].([]any)) != 0 {
		t.Errorf("%d %v", code, m)
	}
}

// What became of a text is reported where no memory shows it: of a secret, of nothing to remember,
// and of what was known already. The secret itself is in no answer. This app sees everything, so
// it is shown the entry of the vault, without its secret.
func TestOutcomeOfAText(t *testing.T) {
	api := newAPI(t)
	for _, c := range []struct{ text, event, memory, message string }{
		{"I live in Porto.", "ADD", "lives in Porto", ""},
		{"I live in Porto.", "NOOP", "lives in Porto", ""},
		{"my PIN is 4921", "ADD", "PIN", "moved to the wearer's vault"},
		{"ok", "", "", "nothing was remembered: only sounds and fillers"},
	} {
		body := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"user_id":"ann"}`, c.text)
		_, now := ask(t, api, "POST", "/memories", body)
		_, added := ask(t, api, "POST", "/v3/memories/add/", body)
		code, later := ask(t, api, "GET", fmt.Sprintf("/v1/event/%v/", added["event_id"]), "")
		if code != 200 || strings.Contains(fmt.Sprint(now, added, later), "4921") {
			t.Errorf("%s: %d %v %v %v", c.text, code, now, added, later)
		}
		for _, m := range []map[string]any{now, added, later} {
			if said := fmt.Sprint(m["message"]); c.message != "" && !strings.Contains(said, c.message) || c.message == "" && strings.Contains(said, "nothing") {
				t.Errorf("%s: %v, want %q", c.text, m, c.message)
			}
		}
		list, _ := now["results"].([]any)
		if c.event == "" && len(list) != 0 || c.event != "" && (len(list) != 1 || list[0].(map[string]any)["event"] != c.event || !strings.Contains(fmt.Sprint(list[0]), c.memory)) {
			t.Errorf("%s: %v", c.text, now)
		}
	}
}

func TestBadRequests(t *testing.T) {
	api := newAPI(t)
	deep := strings.Repeat(`{"NOT":`, 5000) + `{"user_id":"a"}` + strings.Repeat("}", 5000)
	many := `{"AND":[` + strings.TrimSuffix(strings.Repeat(`{"user_id":"a"},`, 60_000), ",") + `]}`
	id := "00000000-0000-0000-0000-000000000000"
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v3/memories/add/", `{`, 400, "JSON"},
		{"POST", "/v3/memories/add/", `[]`, 400, "not a JSON object: array where an object is wanted"},
		{"POST", "/v3/memories/add/", `{"messages":[{"role":"user","content":5}]}`, 400, "number where a text is wanted"},
		{"POST", "/v3/memories/search/", `{"query":"x","top_k":"3"}`, 400, "top_k: string where a number is wanted"},
		{"POST", "/v3/memories/search/", `{"query":"x","top_k":1.5}`, 400, "top_k: 1.5 where another number is wanted"},
		{"POST", "/v3/memories/add/", "{\"messages\":\"caf\xe9\"}", 400, "UTF-8"},
		{"POST", "/v3/memories/add/", `{}`, 400, "messages"},
		{"POST", "/v3/memories/add/", `{"messages":3}`, 400, "messages"},
		{"POST", "/v3/memories/add/", `{"messages":[]}`, 400, "messages"},
		{"POST", "/v3/memories/add/", `{"messages":[{"role":"tool","content":"x"}]}`, 400, "messages[0].role"},
		{"POST", "/v3/memories/add/", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "messages"},
		{"POST", "/v3/memories/add/", `{"messages":"x","user_id":7}`, 400, "user_id"},
		{"POST", "/v3/memories/add/", `{"messages":"x","metadata":[]}`, 400, "metadata"},
		{"POST", "/v3/memories/add/", `{"messages":"x","infer":false,"metadata":{"app_id":"y"}}`, 400, "app_id"},
		{"POST", "/v3/memories/add/", `{"messages":"x","infer":false,"metadata":{"":"y"}}`, 400, "metadata"},
		{"POST", "/v3/memories/add/", `{"messages":"x","timestamp":"soon"}`, 400, "timestamp"},
		{"POST", "/v3/memories/add/", `{"messages":"x","timestamp":"0001-01-01"}`, 400, "timestamp"},
		{"POST", "/v3/memories/add/", `{"messages":"x","includes":"tea"}`, 400, "includes"},
		{"POST", "/v3/memories/add/", `{"messages":"x","user_id":"` + strings.Repeat("u", 200) + `"}`, 400, "user"},
		{"POST", "/v3/memories/add/", `{"messages":"` + strings.Repeat("x", 10<<20) + `"}`, 413, "bytes"},
		{"POST", "/v3/memories/search/", `{"query":" "}`, 400, "query"},
		{"POST", "/v3/memories/search/", `{"query":"x","top_k":-1}`, 400, "top_k: -1, want 1 to 100"},
		{"POST", "/search", `{"query":"x","limit":101}`, 400, "top_k: 101, want 1 to 100"},
		{"POST", "/v3/memories/search/", `{"query":"x","filters":{"colour":"red"},"user_id":"a"}`, 400, "filters.colour: not a field that can be filtered by; they are agent_id, app_id, categories, "},
		{"POST", "/v3/memories/search/", `{"query":"x","top_k":9223372036854775808}`, 400, "top_k"},
		{"POST", "/v3/memories/search/", `{"query":"x","filters":3}`, 400, "filters"},
		{"POST", "/v3/memories/search/", `{"query":"x","filters":{"AND":{"colour":"red"}}}`, 400, "filters"},
		{"POST", "/v3/memories/search/", `{"query":"x","filters":{"user_id":{"like":"a"}}}`, 400, "like"},
		{"POST", "/v3/memories/search/", `{"query":"x","filters":{"metadata":{}}}`, 400, "metadata"},
		{"POST", "/v3/memories/search/", `{"query":"x","filters":` + deep + `}`, 400, "deeper"},
		{"POST", "/v3/memories/search/", `{"query":"x","filters":` + many + `}`, 400, "more than"},
		{"POST", "/v3/memories/?page=9223372036854775808", `{}`, 400, "page"},
		{"POST", "/v3/memories/?page=0", `{}`, 400, "page"},
		{"GET", "/v1/memories/" + id + "/", "", 404, ""},
		{"GET", "/v1/memories/..%2f..%2fstatus/", "", 400, "want digits"},
		{"GET", "/v1/memories/a%2fb/", "", 400, "4 characters"},
		{"PUT", "/v1/memories/" + id + "/", `{}`, 400, "text"},
		{"PUT", "/v1/memories/" + id + "/", `{"text":"x","expiration_date":"2027-01-01"}`, 400, "expiration_date"},
		{"DELETE", "/v1/memories/" + id + "/?delete_linked=true", "", 400, "delete_linked"},
		{"DELETE", "/v1/memories/", "", 400, "user_id"},
		{"DELETE", "/v2/entities/planet/mars/", "", 400, "type"},
		{"PUT", "/v1/batch/", `{"memories":[{"memory_id":"` + id + `"}]}`, 400, "memories[0]"},
		{"PUT", "/v1/batch/", `{"memories":[]}`, 400, "memories: 0, want 1 to 1000"},
		{"DELETE", "/v1/batch/", `{"memories":[{"memory_id":"` + id + `"}]}`, 404, "memories[0]"},
		{"GET", "/v1/event/" + id + "/", "", 404, "event"},
		{"POST", "/v1/feedback/", `{}`, 501, "https://github.com/locket-dev/locket/blob/main/docs/clients.md"},
		{"POST", "/reset", "", 501, "docs/clients.md"},
	} {
		code, m := ask(t, api, c.method, c.path, c.body)
		if code != c.status || !strings.Contains(fmt.Sprint(m["detail"]), c.want) {
			t.Errorf("%s %s %.80s: %d %.300v, want %d %s", c.method, c.path, c.body, code, m, c.status, c.want)
		}
	}
	// A body that is cut off anywhere adds nothing.
	body := `{"messages":[{"role":"user","content":"The red kayak lies in Lindau"}],"user_id":"ann","infer":false,"metadata":{"a":{"b":[1,2,3]}}}`
	for n := 1; n < len(body); n++ {
		if code, m := ask(t, api, "POST", "/v3/memories/add/", body[:n]); code != 400 {
			t.Errorf("cut at %d: %d %v", n, code, m)
		}
	}
	if _, m := ask(t, api, "POST", "/v3/memories/", `{}`); m["count"] != 0.0 {
		t.Errorf("%v", m)
	}
}

// No page of a list links to an empty one.
func TestPages(t *testing.T) {
	api := newAPI(t)
	if _, m := ask(t, api, "POST", "/v3/memories/?page=2", `{}`); m["previous"] != nil || m["next"] != nil {
		t.Errorf("%v", m)
	}
	for _, text := range []string{"tea", "figs", "rain"} {
		if code, m := ask(t, api, "POST", "/v3/memories/add/", `{"messages":"I like `+text+`","infer":false}`); code != 200 {
			t.Fatal(code, m)
		}
	}
	for page, want := range map[string][2]string{"1": {"", "2"}, "2": {"1", ""}, "3": {"2", ""}, "1000000": {"2", ""}} {
		_, m := ask(t, api, "POST", "/v3/memories/?page_size=2&page="+page, `{}`)
		for i, name := range []string{"previous", "next"} {
			link, _ := m[name].(string)
			if u, err := url.Parse(link); err != nil || u.Query().Get("page") != want[i] {
				t.Errorf("page %s: %s is %q, want page %q", page, name, link, want[i])
			}
		}
	}
}

// An event reveals nothing of what was forgotten since.
func TestEventOfAForgottenMemory(t *testing.T) {
	api := newAPI(t)
	messages := make([]string, 20)
	for i := range messages {
		messages[i] = fmt.Sprintf(`{"role":"user","content":"The red kayak lies in Lindau, on place %d"}`, i)
	}
	_, m := ask(t, api, "POST", "/v3/memories/add/", `{"messages":[`+strings.Join(messages, ",")+`],"user_id":"ann","infer":false}`)
	path := "/v1/event/" + fmt.Sprint(m["event_id"]) + "/"
	added, _ := m["results"].([]any)
	code, m := ask(t, api, "GET", path, "")
	if results, _ := m["results"].([]any); code != 200 || len(added) != 20 || len(results) != 20 || fmt.Sprint(results[7]) != fmt.Sprint(added[7]) {
		t.Fatalf("%d %v", code, m)
	}
	if code, m := ask(t, api, "DELETE", "/v1/memories/?user_id=ann", ""); code != 200 {
		t.Fatalf("%d %v", code, m)
	}
	if code, m := ask(t, api, "GET", path, ""); code != 200 || strings.Contains(fmt.Sprint(m["results"]), "kayak") {
		t.Errorf("%d %v", code, m)
	}
}
