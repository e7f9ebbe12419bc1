package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What recall is not sure of is not denied above the very line that has it.
func TestUnsureAnswers(t *testing.T) {
	near := []serve.ContextItem{{ID: memory.ID{1}, Cite: "3f7k9m2xqa", Text: "The red kayak lies in Lindau"}}
	for _, tt := range []struct {
		name    string
		r       serve.AskResult
		want    string
		without string
	}{
		{"unsure", serve.AskResult{Answer: "I don't know.", Evidence: near}, "Not sure. The nearest is:\n  3f7k9m2xqa  The red kayak", "know"},
		{"nothing", serve.AskResult{Answer: "I don't know."}, "I don't know.\n", "Not sure"},
		{"known", serve.AskResult{Known: true, Evidence: near}, "  3f7k9m2xqa  The red kayak", "Not sure"},
		{"a model's", serve.AskResult{Model: "m", Answer: "I don't know.", Evidence: near}, "I don't know.\n", "kayak"},
	} {
		var out bytes.Buffer
		a := &app{stderr: &out}
		a.showAnswer(&out, &tt.r)
		if got := out.String(); !strings.HasPrefix(got, tt.want) || strings.Contains(got, tt.without) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	var out bytes.Buffer
	(&app{}).showHits(&out, &serve.SearchResult{Hits: []serve.Hit{{ID: memory.ID{1}, Text: near[0].Text}}}, found{})
	if got := out.String(); !strings.HasPrefix(got, "Not sure. The nearest is:\n") {
		t.Errorf("search: %q", got)
	}
}
