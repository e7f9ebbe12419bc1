package forget

import (
	"slices"
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
		for r := []rune(w); len(r) > 0; {
			n := slices.IndexFunc(r, func(c rune) bool { return han(c) != han(r[0]) })
			if n < 0 {
				n = len(r)
			}
			run := r[:n]
			r = r[n:]
			switch {
			case han(run[0]):
				for i := range max(1, len(run)-1) {
					out[string(run[i:min(i+2, len(run))])] = true
				}
			case len(run) >= 3 || slices.ContainsFunc(run, unicode.IsDigit):
				out[string(run)] = true
			}
		}
	}
	return out
}

// han reports whether words are not parted by spaces in a character's script.
func han(c rune) bool { return c >= 0x2e80 }
