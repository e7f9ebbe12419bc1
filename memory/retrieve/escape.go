package retrieve

import (
	"strings"
	"unicode"
)

// Escape makes a text fit for one line of a block. Characters that have a
// meaning there are written as XML writes them: < and > of a tag and of the
// marks of chat templates, [ of a cite and of Llama's marks, & of what is
// written so. Line ends become spaces; what can't be seen, or turns the order
// of what can, is taken out.
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

// fold returns the plain form of a character that a model may read as it.
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

// joins reports the two format characters that scripts and emoji are spelled with.
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
