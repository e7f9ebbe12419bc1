package forget

import (
	"slices"
	"strings"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// canStay reports whether a memory can stay on the evidence that is left. It can if
// each word that it shares with the texts that are forgotten (gone) is also in
// those that are left. Words that a person wrote into the memory count as left.
func canStay(m *memory.Memory, gone, left string) bool {
	if m.Type == memory.Resource || m.Type == memory.Vault {
		return false // the memory contains the secret itself
	}
	has, lost := tokens(left), tokens(gone)
	for t := range tokens(m.Text + "\n" + otherTexts(m)) {
		if lost[t] && !has[t] {
			return false
		}
	}
	return true
}

// tokens returns the meaningful words of a text: those of three letters or more,
// or with a digit, and in Chinese, pairs of characters.
func tokens(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(memory.Normal(text)) {
		for r := []rune(w); len(r) > 0; {
			n := slices.IndexFunc(r, func(c rune) bool { return withoutSpaces(c) != withoutSpaces(r[0]) })
			if n < 0 {
				n = len(r)
			}
			run := r[:n]
			r = r[n:]
			switch {
			case withoutSpaces(run[0]):
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

// withoutSpaces reports whether a character's script has no spaces between words.
func withoutSpaces(c rune) bool { return c >= 0x2e80 }
