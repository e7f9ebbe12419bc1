package reconcile

import (
	"strings"
	"unicode"

	"github.com/locket-dev/locket/internal/hans"
)

// Distinguishes reports whether a word alone makes two statements different:
// a number, a negation, a name (which shingles leaves with its capital).
func Distinguishes(w string) bool {
	for _, r := range w {
		if unicode.IsDigit(r) || unicode.IsUpper(r) {
			return true
		}
	}
	switch w {
	case "not", "no", "never", "dont", "doesnt", "isnt", "wont", "cant", "didnt", "before", "after", "不", "没", "别":
		return true
	}
	return false
}

// Shingles returns the parts by which two texts are compared: their words, in which
// names keep their capital, and for Chinese the pairs of characters.
func Shingles(s string) map[string]bool {
	out := map[string]bool{}
	start := true
	for _, w := range strings.FieldsFunc(hans.Fold(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	}) {
		w = strings.NewReplacer("'", "", "’", "").Replace(w)
		rs := []rune(w)
		if len(rs) == 0 {
			continue
		}
		if unicode.Is(unicode.Han, rs[0]) {
			for i := range rs {
				out[string(rs[i:min(i+2, len(rs))])] = true
				if w := string(rs[i]); Distinguishes(w) {
					out[w] = true
				}
			}
			continue
		}
		if start || !unicode.IsUpper(rs[0]) {
			w = strings.ToLower(w) // the first word of a sentence has a capital because of its place
		}
		start = false
		out[w] = true
	}
	return out
}
