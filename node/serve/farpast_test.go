package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// If a rule finds a time whose year can't be written, only that memory is lost. The line and
// its other memories stay, and the home can be searched.
func TestTimesWithoutAYear(t *testing.T) {
	at := httptest.NewServer(serve.New(serve.Options{Services: nodetest.New(t, nil).Services()}))
	defer at.Close()
	post := func(path, body string, want int) string {
		t.Helper()
		r, err := http.Post(at.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != want {
			t.Errorf("%s %s: %d %s, %v", path, body, r.StatusCode, b, err)
		}
		return string(b)
	}
	text := post("/v1/memories", `{"text":"I lived in Rome 3000 years ago. I like figs."}`, http.StatusCreated)
	var got serve.AddResult
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Changes) != 1 || !strings.Contains(got.Changes[0].New, "figs") || got.Line.IsZero() {
		t.Errorf("%s, %v", text, err)
	}
	for _, field := range []string{`"at":"0000-01-01T00:00:00+10:00"`, `"expires":"9999-12-31T23:59:59-10:00"`, `"type":"episodic","fields":{"episodic":{"started":"9999-12-31T23:59:59-10:00"}}`} {
		post("/v1/memories", `{"text":"Ann picked figs.","infer":false,`+field+`}`, http.StatusUnprocessableEntity)
	}
	post("/v1/search", `{"query":"figs"}`, http.StatusOK)
	post("/v1/context", `{"topic":"figs"}`, http.StatusOK)
}
