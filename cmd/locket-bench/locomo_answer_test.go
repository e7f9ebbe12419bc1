package main

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/llmtest"
)

func TestF1(t *testing.T) {
	for _, c := range []struct {
		said, truth, category string
		want                  float64
	}{
		{"The Norway.", "Norway", "single_hop", 1},
		{"She comes from Norway", "Norway", "single_hop", 0.4},
		{"running", "run", "single_hop", 1},
		{"Sweden", "Norway", "single_hop", 0},
		{"", "Norway", "single_hop", 0},
		{"judo, boxing", "boxing, judo", "multi_hop", 1},
		{"judo", "boxing, judo", "multi_hop", 0.5},
		{"yes", "Yes; she planted tulips", "open_domain", 1},
		{"2 March 2024", "2 March, 2024", "temporal", 1},
		{"2 2 2", "2", "temporal", 0.5},
	} {
		if got := f1(c.said, c.truth, c.category); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%q for %q: %v, want %v", c.said, c.truth, got, c.want)
		}
	}
}

// Through the node, a model answers one question nearly correctly, and fails at another. It gives the
// same wrong answer, with a citation, to those of the other four for which recall found something.
func TestLocomoAnswers(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Key: "k"})
	t.Setenv("LOCKET_LLM_KEY", "k")
	s.Otherwise(func(s *llmtest.Server, w http.ResponseWriter, r *http.Request, req *llmtest.Request) {
		if strings.Contains(req.Last(), "What boat") {
			llmtest.Fails(401, "", "no")(s, w, r, req)
			return
		}
		llmtest.Func(func(r *llmtest.Request) string {
			for l := range strings.Lines(r.Last()) {
				if strings.Contains(l, "judo") {
					return "2 March " + l[strings.Index(l, "["):strings.Index(l, "]")+1]
				}
			}
			return "I don't know."
		})(s, w, r, req)
	})
	talk, err := os.ReadFile(talkFile)
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "talk.json") // here recall believes that it knows the answer about the boat, so the model is asked
	if err := os.WriteFile(data, bytes.Replace(talk, []byte("What boat does Ines show on the lake?"), []byte("What boat does Olaf show on a lake?"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := bench(t, "locomo", "--data", data, "--k", "5", "--json", "--answer", "--llm", s.URL, "--model", s.Model())
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var r locomoResult
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	a := r.Answers
	if a == nil || a.Model != "test-model" || a.Questions != 6 || a.F1["temporal"] != 80 || a.F1["multi_hop"] != 0 || a.F1["adversarial"] != 50 || a.Failed != 1 || a.Cited != 100 || a.Unknown == 0 {
		t.Fatalf("%+v", a)
	}
	var table strings.Builder
	if err := a.table(&table); err != nil || !strings.Contains(table.String(), "token F1 of test-model over 6 questions: all") || !strings.Contains(table.String(), "temporal 80.0") {
		t.Errorf("%s, %v", &table, err)
	}
}
