package retrieve

import (
	"strings"
	"unicode"
)

// Escape makes a text fit for one line of a block. Characters with a special meaning are written as
// in XML: < and > of a tag and of the marks of chat templates, [ of a cite and of Llama's marks, &
// of such an escape. Line ends become spaces; characters that are invisible, or that change the
// order of visible ones, are removed.
func Escape(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs) && !joins(r), r == unicode.ReplacementChar:
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		switch fold(r) {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '[':
			b.WriteString("&#91;")
		case ']':
			b.WriteString("&#93;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fold returns the plain form of a character that a model may read as that form.
func fold(r rune) rune {
	switch r {
	case '＜', '﹤':
		return '<'
	case '＞', '﹥':
		return '>'
	case '＆':
		return '&'
	case '［':
		return '['
	case '］':
		return ']'
	}
	return r
}

// joins reports whether r is one of the two format characters that scripts and emoji need.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// cut shortens s to at most n characters.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
