package rules

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// dislocated reads "she's on insulin, my mother" as "my mother is on insulin". It reports whether
// the sentence names at its end whom its pronoun means.
func dislocated(t *discourse.Talk, s syntax.Sentence) bool {
	n := len(s.Toks)
	base, rest := syntax.Contraction(s.At(0))
	if base != "he" && base != "she" || n < 6 || s.Ends == "?" {
		return false
	}
	k := n - 3
	if s.Toks[n-1].Cap {
		k-- // my brother Tom
	}
	whose := s.At(k + 1)
	if sex := syntax.SexOf(s.At(k+2), ""); s.At(k) != "," || whose != "my" && whose != "our" || !syntax.Kin(s.At(k+2)) || sex != 0 && (sex == syntax.Male) != (base == "he") {
		return false
	}
	if rest == "is" && syntax.PastForm(s.At(1)) {
		rest = "has" // "he's moved, my brother"
	}
	said := "My " + s.Text[s.Toks[k+2].Start:s.End] + " " + rest + s.Text[s.Toks[0].End:s.Toks[k].Start]
	inOtherWords(t, s, said)
	return true
}
