// Package lower has lower case in which each byte stays in its place.
package lower

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of is s in lower case, but for letters whose lower case takes more or fewer bytes in UTF-8, which
// stay as they are ("İ", "Ⱥ"). So a place in it is the same place in s.
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
