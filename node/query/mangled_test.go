package query_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/mangle"
	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Whatever is said, nothing is quarantined; whatever is asked gets an answer, and in
// time.
func TestMangledTalk(t *testing.T) {
	n := nodetest.New(t, nil)
	lines := mangle.Lines(t, "../../wasm/plugins/internal/rules/testdata/daily.txt", "../../wasm/plugins/internal/rules/testdata/said.txt")
	at := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	mangle.Each(t, 150, lines, func(_ *rand.Rand, line string) {
		at = at.Add(time.Hour)
		res, err := n.Add(t.Context(), serve.AddRequest{Text: line, At: at})
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", line, err)
		}
		for _, r := range res.Refusals {
			if r.Kind == "plugin" {
				t.Errorf("%q: %+v", line, r)
			}
		}
	})
	var questions []string
	for _, file := range []string{"zh", "across"} {
		b, err := os.ReadFile("../../memory/recall/testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if q, ok := strings.CutPrefix(line, "? "); ok {
				questions = append(questions, strings.TrimSpace(q))
			}
		}
	}
	questions = append(questions, "and where?", "what do I have to do on Friday", "where was I this afternoon", "who did I meet yesterday", "what did I promise", "what are my hobbies", "how many times did I call", "where did I leave my keys",
		"我今天要做什么", "昨天见了谁", "那天呢", "我的车停在哪里")
	before := []serve.ContextMessage{}
	mangle.Each(t, 400, questions, func(r *rand.Rand, line string) {
		asked := at.Add(time.Duration(r.IntN(4000)) * time.Hour)
		var err error
		switch r.IntN(3) {
		case 0:
			_, err = n.Ask(t.Context(), serve.AskRequest{Question: line, At: asked, Before: before})
			before = append(before[:min(len(before), r.IntN(4))], serve.ContextMessage{Text: line})
		case 1:
			_, err = n.Search(t.Context(), serve.SearchRequest{Query: line, At: asked})
		case 2:
			_, err = n.Context(t.Context(), serve.ContextRequest{Messages: []serve.ContextMessage{{Speaker: "Ana", Text: line}}, At: asked})
		}
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", line, err)
		}
	})
}
