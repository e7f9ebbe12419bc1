package mem0_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/mem0"
	"github.com/locket-dev/locket/node/serve"
)

func kept(t *testing.T, api http.Handler, texts ...string) (first map[string]any) {
	t.Helper()
	for _, text := range texts {
		if code, m := ask(t, api, "POST", "/memories", `{"messages":"`+text+`","user_id":"ann","infer":false}`); code != 200 {
			t.Fatalf("%d %v", code, m)
		}
	}
	_, m := ask(t, api, "GET", "/memories?user_id=ann", "")
	list, _ := m["results"].([]any)
	if len(list) != len(texts) {
		t.Fatalf("%v", m)
	}
	return list[0].(map[string]any)
}

// A request that would have chosen fewer memories than it erases, or that means all of
// them, erases nothing.
func TestEraseRefusesBroaderFilters(t *testing.T) {
	api := newAPI(t)
	kept(t, api, "The red kayak lies in Lindau")
	for _, c := range []struct{ method, path, body, want string }{
		{"DELETE", "/v1/memories/?user_id=ann", `{"run_id":"r1"}`, "run_id"},
		{"DELETE", "/memories?user_id=ann", `{"metadata":{"a":"b"}}`, "metadata"},
		{"DELETE", "/v1/memories/?user_id=ann&run_id=", "", "run_id"},
		{"DELETE", "/v1/memories/?user_id=*", "", "user_id"},
		{"DELETE", "/memories?user_id=ann&app_id=*", "", "app_id"},
		{"DELETE", "/v2/entities/user/ann/?run_id=r1", "", "run_id"},
		{"DELETE", "/v2/entities/user/ann/?since=2026-01-01", "", "since"},
		{"DELETE", "/v2/entities/user/ann/", `{"run_id":"r1"}`, "run_id"},
		{"DELETE", "/v2/entities/user/*/", "", "user_id"},
		{"DELETE", "/v2/entities/user/%2A/", "", "user_id"},
		{"GET", "/memories?user_id=ann", `{"run_id":"r1"}`, "run_id"},
	} {
		if code, m := ask(t, api, c.method, c.path, c.body); code != 400 || !strings.Contains(fmt.Sprint(m["detail"]), c.want) {
			t.Errorf("%s %s %s: %d %v, want %s", c.method, c.path, c.body, code, m, c.want)
		}
	}
	if _, m := ask(t, api, "POST", "/v3/memories/", `{}`); m["count"] != 1.0 {
		t.Errorf("%v", m)
	}
	if code, m := ask(t, api, "DELETE", "/v1/memories/?user_id=ann&org_id=o", `{"project_id":"p","run_id":null}`); code != 200 {
		t.Errorf("%d %v", code, m)
	}
}

// A list can choose by category, and by the day on which a memory was made.
func TestListFilters(t *testing.T) {
	api := newAPI(t)
	made := kept(t, api, "Ann eats cake for breakfast", "The kayak is red")["created_at"].(string)[:len("2026-01-31")]
	for body, want := range map[string]float64{
		`{"categories":["food"]}`:                               1,
		`{"categories":["no such"]}`:                            0,
		`{"end_date":"` + made + `"}`:                           2,
		`{"start_date":"` + made + `","end_date":"9999-12-31"}`: 2,
		`{"end_date":"2020-01-01"}`:                             0,
	} {
		_, m := ask(t, api, "POST", "/v3/memories/", body)
		if list, _ := m["results"].([]any); m["count"] != want || float64(len(list)) != want {
			t.Errorf("%s: %v, want %v", body, m, want)
		}
	}
}

// A list of several pages misses nothing if a memory disappears between two of them.
func TestListDuringErasure(t *testing.T) {
	s := nodetest.New(t, nodetest.Cheap).Services()
	s.Apps = one{}
	var between func()
	api := serve.New(serve.Options{Services: s, ForApps: func(api http.Handler) map[string]serve.Door {
		small := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query(); q.Has("limit") && between != nil { // two per page
				r = r.Clone(r.Context())
				q.Set("limit", "2")
				r.URL = &url.URL{Path: r.URL.Path, RawQuery: q.Encode()}
				r.RequestURI = r.URL.RequestURI()
				defer between()
			}
			api.ServeHTTP(w, r)
		})
		return map[string]serve.Door{mem0.Prefix + "/": {Handler: mem0.Handler(small)}}
	}})
	first := kept(t, api, "The kayak is red", "The boat is blue", "The sail is white", "The oar is long", "The mast is high")
	pages := 0
	between = func() {
		if pages++; pages == 1 {
			if code, m := ask(t, api, "DELETE", "/memories/"+first["id"].(string), ""); code != 200 {
				t.Errorf("%d %v", code, m)
			}
		}
	}
	_, m := ask(t, api, "GET", "/memories?user_id=ann", "")
	if list, _ := m["results"].([]any); len(list) != 5 || pages != 3 {
		t.Errorf("%d in %d pages: %v", len(list), pages, list)
	}
}
