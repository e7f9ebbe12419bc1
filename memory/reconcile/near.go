package reconcile

import (
	"strings"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// NearDuplicate is the likeness from which two statements count as one. It was
// chosen by hand on pairs like those in the package's tests.
const NearDuplicate = 0.8

// Near says how alike a candidate and a known memory are, 0 to 1: the Jaccard
// likeness of their words (of character pairs, in Chinese). It is 0 where they
// are of different type or owner, where either fills a slot (slots decide by
// their value), where one has a number or a name that the other lacks, or
// where one denies what the other says.
func Near(c *memory.Candidate, m *memory.Memory) float64 {
	if c.Type != m.Type || c.Owner != m.Owner || c.Slot != nil || m.Slot != nil || c.Negates != m.Negates {
		return 0
	}
	a, b := Shingles(c.Text), Shingles(m.Text)
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	both := 0
	for w := range a {
		if b[w] {
			both++
		} else if Distinguishes(w) {
			return 0
		}
	}
	for w := range b {
		if !a[w] && Distinguishes(w) {
			return 0
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

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

// Shingles gives what two texts are compared by: their words, names with their
// capital, and in Chinese pairs of characters.
func Shingles(s string) map[string]bool {
	out := map[string]bool{}
	start := true
	for _, w := range strings.FieldsFunc(s, func(r rune) bool {
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
			w = strings.ToLower(w) // a sentence's first word has its capital from there
		}
		start = false
		out[w] = true
	}
	return out
}
