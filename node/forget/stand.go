package forget

import (
	"strings"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// Stands reports whether a memory can stay on the evidence that is left: each
// word that it has in common with what goes stands in what is left as well.
// gone and left are texts. What a person wrote into it is theirs.
func Stands(m *memory.Memory, gone, left string) bool {
	if m.Type == memory.Resource || m.Type == memory.Vault {
		return false // it holds the thing itself
	}
	has, lost := tokens(left), tokens(gone)
	for t := range tokens(m.Text + "\n" + said(m)) {
		if lost[t] && !has[t] {
			return false
		}
	}
	return true
}

// tokens are the words of a text that say something: of three letters or more,
// or with a digit in them; of Chinese, pairs of characters.
func tokens(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(memory.Normal(text)) {
		r := []rune(w)
		if r[0] >= 0x2e80 {
			for i := range max(1, len(r)-1) {
				out[string(r[i:min(i+2, len(r))])] = true
			}
			continue
		}
		if len(r) >= 3 || strings.ContainsFunc(w, unicode.IsDigit) {
			out[w] = true
		}
	}
	return out
}
