package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// joked reads a sentence that takes a joke back: what it denies if it says that something "was" a
// joke, and what follows "just kidding,". It reports whether that gave anything.
func joked(t *discourse.Talk, s syntax.Sentence) bool {
	before := len(t.Out.Candidates)
	for k := range s.Toks {
		if w := s.At(k); w != "kidding" && w != "joking" {
			continue
		}
		head := k
		for head > 0 && s.At(head) != "," {
			head--
		}
		if base, rest := syntax.Contraction(s.At(k - 1)); (base == "was" && rest == "" || s.At(k-1) == "only" && s.At(k-2) == "was") && head > 0 {
			sentence(t, s.Sub(0, head))
			kept := t.Out.Candidates[:before]
			for _, c := range t.Out.Candidates[before:] {
				if c.Negates || c.Slot != nil && strings.HasPrefix(c.Slot.Attribute, "not_") {
					kept = append(kept, c)
				}
			}
			t.Out.Candidates = kept
		}
		if head > 0 && s.At(k+1) == "," && k+3 < len(s.Toks) {
			sentence(t, s.Sub(k+2, len(s.Toks)))
		}
		break
	}
	return len(t.Out.Candidates) > before
}
