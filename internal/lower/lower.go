// Package lower converts to lower case without moving any byte.
package lower

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of returns s in lower case, except for letters whose lower case has another length in UTF-8,
// which are unchanged ("İ", "Ⱥ"). So an offset in the result is the same offset in s.
func Of(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(sameLength, s)
		}
	}
	return strings.ToLower(s)
}

func sameLength(r rune) rune {
	if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
		return l
	}
	return r
}
