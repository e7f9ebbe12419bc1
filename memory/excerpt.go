package memory

import "unicode/utf8"

// Excerpt returns the beginning of a text that a piece of evidence quotes.
func Excerpt(s string) string {
	r := []rune(s)
	if len(r) > MaxExcerpt/4 {
		return string(r[:MaxExcerpt/4]) + "…"
	}
	return s
}

// Cut shortens s to at most n bytes without splitting a character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
