package llm_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/testing/llmtest"
)

func TestVectors(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Key: "sk-secret", Dimensions: 64})
	v, err := llm.NewVectors(llm.VectorsConfig{URL: s.URL, RerankURL: s.URL, RerankModel: s.Model(), Key: "sk-secret"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Embed(t.Context(), s.Model(), []string{"a line", "another"})
	if err != nil || len(got) != 2 || len(got[0]) != 64 {
		t.Fatalf("%d, %v", len(got), err)
	}
	scores, err := v.Rerank(t.Context(), "blue bike", []string{"tea", "the blue bike", "a bike"})
	if err != nil || scores[1] <= scores[2] || scores[2] <= scores[0] {
		t.Fatalf("%v, %v", scores, err)
	}
	kind := func(err error) llm.Kind {
		f, ok := errors.AsType[*llm.Fault](err)
		if !ok {
			t.Fatalf("%v is no fault", err)
		}
		return f.Kind
	}
	if _, err := v.Embed(t.Context(), "other", []string{"x"}); kind(err) != llm.Setup {
		t.Errorf("another model: %v", err)
	}
	wrong, _ := llm.NewVectors(llm.VectorsConfig{URL: s.URL, Key: "sk-wrong"})
	if _, err := wrong.Embed(t.Context(), s.Model(), []string{"x"}); kind(err) != llm.Setup || strings.Contains(err.Error(), "sk-wrong") {
		t.Errorf("a wrong key: %v", err)
	}
}

// If a server's answer violates the protocol, the fault says so, and nothing of the answer is used.
func TestVectorsMisbehaving(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   llm.Kind
	}{
		"no JSON":          {200, "rubbish", llm.Babbled},
		"a proxy's page":   {200, "<html>", llm.Gone},
		"cut off":          {200, `{"data":[{"index":0,`, llm.Babbled},
		"too few":          {200, `{"data":[{"index":0,"embedding":[1]}]}`, llm.Babbled},
		"twice the same":   {200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, llm.Babbled},
		"out of range":     {200, `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`, llm.Babbled},
		"two dimensions":   {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, llm.Babbled},
		"texts":            {200, `{"data":[{"index":0,"embedding":["a"]},{"index":1,"embedding":["b"]}]}`, llm.Babbled},
		"huge":             {200, strings.Repeat(" ", 9<<20), llm.Babbled},
		"busy":             {429, `{"error":{"message":"come again"}}`, llm.Busy},
		"down":             {502, "bad gateway", llm.Gone},
		"somewhere else":   {302, "", llm.Setup},
		"too long a text":  {400, `{"error":{"message":"maximum context length"}}`, llm.Refused},
		"a server's panic": {500, `{"error":{"message":"panic"}}`, llm.Gone},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.status == 302 {
				w.Header().Set("Location", "http://127.0.0.1:1/")
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}))
		v, err := llm.NewVectors(llm.VectorsConfig{URL: s.URL, RerankURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Embed(t.Context(), "m", []string{"a", "b"})
		_, err2 := v.Rerank(t.Context(), "q", []string{"a", "b"})
		for _, err := range []error{err, err2} {
			f, ok := errors.AsType[*llm.Fault](err)
			if !ok || f.Kind != c.want || c.want == llm.Busy && f.After != 7*time.Second {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
		s.Close()
	}
	for _, body := range []string{`{"results":[{"index":0},{"index":1}]}`, `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		v, _ := llm.NewVectors(llm.VectorsConfig{RerankURL: s.URL})
		if _, err := v.Rerank(t.Context(), "q", []string{"a", "b"}); err == nil {
			t.Errorf("%s is taken", body)
		}
		s.Close()
	}
	for _, url := range []string{"", "ftp://x", "http://u:p@x", "http://x?q"} {
		if _, err := llm.NewVectors(llm.VectorsConfig{URL: url}); err == nil {
			t.Errorf("%q is taken", url)
		}
	}
}
