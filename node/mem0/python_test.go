package mem0_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Mem0's client in Python can't be installed from a registry that the tests use, so this test
// makes its calls as its source does: mem0/client/main.py and types.py of mem0ai/mem0 at
// 8d5b7865bd05. It adds with the owner in filters, and quotes all of a path's segments.
func TestPythonClient(t *testing.T) {
	api := newAPI(t)
	do := func(method, path, body string) (int, map[string]any) {
		t.Helper()
		return ask(t, api, method, path, body, "Authorization", "Token lka_right", "Mem0-User-ID", "0f3c")
	}
	must := func(what, method, path, body string, want ...string) map[string]any {
		t.Helper()
		code, m := do(method, path, body)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if not := strings.TrimPrefix(w, "!"); strings.Contains(string(b), not) == (not != w) {
				t.Errorf("%s: %s, want %s", what, b, w)
			}
		}
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", what, code, b)
		}
		return m
	}
	must("MemoryClient()", "GET", "/v1/ping/", "", `"org_id":"`, `"project_id":"`, `"user_email":"`)
	add := func(what, body string) string {
		t.Helper()
		m := must(what, "POST", "/v3/memories/add/", body, `"event_id"`, `"status":"PENDING"`)
		return m["results"].([]any)[0].(map[string]any)["id"].(string)
	}
	kayak := add("add(list, filters=…)", `{"messages": [{"role": "user", "content": "The red kayak lies in Lindau"}], "filters": {"user_id": "ann"}, "metadata": {"n": 1}, "infer": false}`)
	boat := add("add(str, options)", `{"messages": [{"role": "user", "content": "The blue boat lies in Bregenz"}], "filters": {"user_id": "bob", "agent_id": "a/b"}, "infer": false, "timestamp": 1767225600, "expiration_date": "2999-01-01"}`)
	add("add(dict, user_id=…)", `{"messages": [{"role": "user", "content": "The boat house is green"}], "user_id": "ann", "run_id": "r 1", "infer": false}`)
	must("get", "GET", "/v1/memories/"+kayak+"/", "", `"memory":"The red kayak lies in Lindau"`, `"user_id":"ann"`, `"n":1`)
	must("get_all(filters)", "POST", "/v3/memories/", `{"filters": {"user_id": "ann"}}`, `"count":2`, "Lindau", "!Bregenz")
	must("get_all(page)", "POST", "/v3/memories/?page=1&page_size=1", `{"filters": {"OR": [{"user_id": "ann"}, {"agent_id": "a/b"}]}}`, `"count":3`, `"next":"http`)
	must("get_all(start_date, …)", "POST", "/v3/memories/", `{"start_date": "2020-01-01", "end_date": "2999-01-01", "show_expired": false, "latest_only": true}`, `"count":3`)
	must("get_all(start_date later)", "POST", "/v3/memories/", `{"start_date": "2999-01-01"}`, `"count":0`)
	must("search", "POST", "/v3/memories/search/", `{"query": "kayak", "filters": {"user_id": "ann"}, "top_k": 3, "rerank": true, "threshold": 0.1, "fields": ["memory"], "keyword_search": true}`, "Lindau", "!Bregenz", "!user_id")
	must("search(categories)", "POST", "/v3/memories/search/", `{"query": "kayak", "categories": ["no such"], "show_expired": false}`, "!Lindau")
	must("update", "PUT", "/v1/memories/"+kayak+"/", `{"text": "The red kayak lies in Friedrichshafen", "metadata": {"n": 2}}`, "Friedrichshafen", `"n":2`)
	if code, m := ask(t, api, "GET", "/v1/memories/"+kayak+"/history/", ""); code != 200 || m != nil { // a list
		t.Errorf("history: %d %v", code, m)
	}
	must("batch_update", "PUT", "/v1/batch/", `{"memories": [{"memory_id": "`+kayak+`", "text": "The red kayak lies in Meersburg"}]}`, "Successfully")
	must("users", "GET", "/v1/entities/", "", `"name":"ann"`, `"type":"user"`, `"name":"a/b"`, `"type":"agent"`, `"type":"run"`)
	must("delete", "DELETE", "/v1/memories/"+boat+"/", "", "message")
	if code, m := do("GET", "/v1/memories/"+boat+"/", ""); code != http.StatusNotFound || m["detail"] == "" {
		t.Errorf("get of what is gone: %d %v", code, m)
	}
	more := add("add", `{"messages": [{"role": "user", "content": "The oar is long"}], "filters": {"agent_id": "a/b"}, "infer": false}`)
	must("batch_delete", "DELETE", "/v1/batch/", `{"memories": [{"memory_id": "`+more+`"}]}`, "Successfully")
	add("add", `{"messages": [{"role": "user", "content": "The sail is white"}], "filters": {"agent_id": "a/b"}, "infer": false}`)
	must("delete_users(agent_id)", "DELETE", "/v2/entities/agent/a%2Fb/", "", "message")
	must("delete_all", "DELETE", "/v1/memories/?user_id=ann&run_id=r+1", "", "message")
	must("what is left", "POST", "/v3/memories/", `{}`, `"count":1`, "Meersburg")
	// reset() calls delete_users() for each user that users() names.
	for _, e := range must("users", "GET", "/v1/entities/", "")["results"].([]any) {
		entity := e.(map[string]any)
		must("reset", "DELETE", fmt.Sprintf("/v2/entities/%s/%s/", entity["type"], entity["name"]), "")
	}
	must("after reset", "POST", "/v3/memories/", `{}`, `"count":0`)
	for call, what := range map[[3]string]string{
		{"POST", "/v3/memories/add/", `{"messages": [{"role": "user", "content": "x"}], "filters": {"user_id": "ann", "colour": "red"}, "infer": false}`}: "filters.colour",
		{"POST", "/v3/memories/add/", `{"messages": [{"role": "user", "content": "x"}], "filters": {"AND": []}, "infer": false}`}:                         "filters",
		{"POST", "/v3/memories/add/", `{"messages": "x", "filters": {"user_id": "ann"}, "user_id": "bob", "infer": false}`}:                               "filters.user_id",
		{"POST", "/v3/memories/search/", `{"query": "x", "show_expired": true}`}:                                                                          "show_expired",
		{"POST", "/v3/memories/search/", `{"query": "x", "reference_date": "2026-01-01"}`}:                                                                "reference_date",
		{"DELETE", "/v1/memories/?user_id=ann&filters=%7B%27run_id%27%3A+%27r%27%7D", ""}:                                                                 "filters",
		{"DELETE", "/v1/memories/?user_id=ann&user_id=bob", ""}:                                                                                           "user_id",
		{"GET", "/memories?user_id=ann&top_k=0", ""}:                                                                                                      "top_k",
		{"GET", "/memories?user_id=ann&show_expired=true", ""}:                                                                                            "show_expired",
	} {
		if code, m := do(call[0], call[1], call[2]); code != http.StatusBadRequest || !strings.Contains(fmt.Sprint(m["detail"]), what) {
			t.Errorf("%v: %d %v, want %s", call, code, m, what)
		}
	}
	for _, path := range []string{"POST /v1/exports/", "POST /v1/exports/get/", "POST /v1/summary/", "GET /api/v1/orgs/organizations/locket/projects/locket/", "POST /api/v1/webhooks/projects/x/", "POST /v1/feedback/"} {
		method, path, _ := strings.Cut(path, " ")
		if code, m := do(method, path, `{}`); code != http.StatusNotImplemented {
			t.Errorf("%s: %d %v", path, code, m)
		}
	}
}
