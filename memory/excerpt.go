package memory

// Excerpt is as much of a text as a piece of evidence quotes.
func Excerpt(s string) string {
	r := []rune(s)
	if len(r) > MaxExcerpt/4 {
		return string(r[:MaxExcerpt/4]) + "…"
	}
	return s
}
