package recallcmd

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// If recall is not sure, the output does not deny the answer above the very line that has it.
func TestUnsureAnswers(t *testing.T) {
	near := []serve.ContextItem{{ID: memory.ID{1}, Cite: "3f7k9m2xqa", Text: "The red kayak lies in Lindau"}}
	minor := append(slices.Clone(near), serve.ContextItem{ID: memory.ID{2}, Cite: "0aw12z5576", Text: "I know Lindau", Minor: true})
	told := slices.Clone(near)
	told[0].Evidence, told[0].Said = []memory.Evidence{{Speaker: "Bo"}}, "Ana's red kayak lies in Lindau"
	for _, tt := range []struct {
		name    string
		r       serve.AskResult
		want    string
		without string
	}{
		{"unsure", serve.AskResult{Answer: "I don't know.", Evidence: near}, "Not sure. The nearest is:\n  3f7k9m2xqa  The red kayak", "know"},
		{"nothing", serve.AskResult{Answer: "I don't know."}, "I don't know.\n", "Not sure"},
		{"known", serve.AskResult{Known: true, Evidence: near}, "  3f7k9m2xqa  The red kayak", "Not sure"},
		{"beside what is minor", serve.AskResult{Known: true, Evidence: minor}, "  3f7k9m2xqa  The red kayak", "I know"},
		{"a line that says more", serve.AskResult{Known: true, Evidence: told}, "  3f7k9m2xqa  The red kayak lies in Lindau\n      Bo, ", "Not sure"},
		{"minor alone", serve.AskResult{Answer: "I don't know.", Evidence: minor[1:]}, "I don't know.\n", "Lindau"},
		{"a model's", serve.AskResult{Model: "m", Answer: "I don't know.", Evidence: near}, "I don't know.\n", "kayak"},
	} {
		var out bytes.Buffer
		a := &cli.App{Stderr: &out}
		showAnswer(a, &out, &tt.r)
		if got := out.String(); !strings.HasPrefix(got, tt.want) || strings.Contains(got, tt.without) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
