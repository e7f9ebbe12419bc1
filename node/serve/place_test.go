package serve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// A problem says which part of a body is wrong, and does not mention how it is
// parsed.
func TestProblemNamesThePartOfABody(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	h := serve.New(serve.Options{Services: n.Services()})
	one := `{"add":{"text":"The tide is low"}}`
	for _, c := range []struct {
		method, path, body string
		status             int
		kind, field, says  string
	}{
		{"POST", "/v1/memories", `{"text":"a","at":"yesterday"}`, 422, "invalid", "at", "at: want a time such as 2026-"},
		{"POST", "/v1/memories", `{"text":"a","at":5}`, 400, "invalid-request", "at", "at: want a time such as 2026-"},
		{"POST", "/v1/memories", `{"text":"a","bogus":1}`, 400, "invalid-request", "bogus", `"bogus" is not a field`},
		{"POST", "/v1/memories", `{"text":"a","infer":false,"fields":{"semantic":{"bogus":1}}}`, 400, "invalid-request", "fields.semantic.bogus", `"fields.semantic.bogus" is not a field`},
		{"POST", "/v1/memories", `{"text":"a","infer":false,"fields":{"episodic":{"started":"soon"}}}`, 422, "invalid", "fields.episodic.started", "want a time"},
		{"POST", "/v1/memories", `{"text":"a","infer":false,"sensitivity":"loud"}`, 422, "invalid", "sensitivity", "loud"},
		{"POST", "/v1/memories/batch", `{"operations":[` + strings.Repeat(one+",", 5) + `{"add":{"text":"a","bogus":1}}]}`, 400, "invalid-request", "operations[5].add.bogus", ""},
		{"POST", "/v1/memories/batch", `{"operations":[` + one + `,{"add":{"text":"a","expires":"never"}}]}`, 422, "invalid", "operations[1].add.expires", "want a time"},
		{"POST", "/v1/memories", `{"text":"a","infer":false,"at":"2999-01-01T00:00:00Z"}`, 422, "invalid", "at", "in the future"},
		{"POST", "/v1/search", `{"query":"a","filters":{"AND":[{"nothing":"b"}]}}`, 422, "invalid", "filters", "nothing"},
		{"POST", "/v1/memories", `{"text":"a","infer":false,"slot":{"subject":"ana","attribute":"home"}}`, 422, "invalid", "slot.value", "empty"},
		{"POST", "/v1/memories", `{"text":"a","infer":false,"type":"episodic","fields":{"semantic":{}}}`, 422, "invalid", "fields.semantic", "set on"},
		{"GET", "/v1/memories?filters=%7B", "", 422, "invalid", "filters", "filters: the JSON value is cut off"},
		{"GET", "/v1/memories?filters=%7B%22AND%22:[x]%7D", "", 422, "invalid", "filters", "filters.AND[0]: not JSON after byte 8"},
		{"POST", "/v1/memories/batch", `{"operations":[` + one + `,{"delete":{"id":"abcdef"}}]}`, 400, "invalid-request", "operations[1].delete", "operations[1].delete: object where true or false is wanted"},
		{"POST", "/v1/memories", `{"text":"a","text":"b"}`, 400, "invalid-request", "text", `"text" is given twice`},
		{"POST", "/v1/memories", `{"text":"a","metadata":{"k":"1","k":"2"}}`, 400, "invalid-request", "metadata.k", "twice"},
		{"POST", "/v1/memories/batch", `{"operations":[` + one + `,{"add":{"text":"a","text":"b"}}]}`, 400, "invalid-request", "operations[1].add.text", "twice"},
		{"POST", "/v1/memories", "{\"text\":\"caf\xe9\"}", 400, "invalid-request", "", "not UTF-8"},
		{"POST", "/v1/memories", `{"text":"a","infer":false,"metadata":{"k":null}}`, 400, "invalid-request", "metadata.k", "null where a string is wanted"},
		{"GET", "/v1/memories/abc", "", 422, "invalid", "id", "at least 4 characters"},
		{"DELETE", "/v1/memories/abc", "", 422, "invalid", "id", "at least 4 characters"},
		{"GET", "/v1/memories?since=monday", "", 422, "invalid", "since", "want a time"},
	} {
		t.Run(fmt.Sprint(c.path, " ", c.field), func(t *testing.T) {
			if p := problem(t, ask(h, c.method, c.path, c.body), c.status, c.kind, c.field); !strings.Contains(p.Detail, c.says) || strings.Contains(p.Detail, "parsing") {
				t.Errorf("%q, want %q", p.Detail, c.says)
			}
		})
	}
}
