package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// animal is the animal that 叫团子 names: one named earlier in this text, or
// in the turns just before.
func animal(t *discourse.Talk, s syntax.Sentence) (string, bool) {
	texts := []string{s.Text[:s.Start]}
	for i := len(t.Ev.Before) - 1; i >= max(0, len(t.Ev.Before)-3); i-- {
		if t.Ev.At-t.Ev.Before[i].At <= discourse.AnswerWithin {
			texts = append(texts, t.Ev.Before[i].Text)
		}
	}
	for _, text := range texts {
		for _, a := range discourse.PetsZh {
			if strings.Contains(text, a) {
				return a, true
			}
		}
	}
	return "", false
}
