package market

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A listing is found by words of a to z and 0 to 9 only, in SQLite and PostgreSQL alike. So neither
// database's own idea of a word, which depends on its locale, matters, and no query can contain an
// operator. Accents and case are removed. A character of another script is a word of its own, by
// its number: 番茄 is "u756a u8304", and is found as a phrase, inside any text.

// word is a sequence of adjacent tokens.
type word []string

// maxWords is how many tokens of a listing are indexed, and maxQuery how many a query has.
const (
	maxWords = 2000
	maxQuery = 16
)

// wordsOf splits texts into words.
func wordsOf(texts ...string) (out []word) {
	n := 0
	for _, text := range texts {
		var w word
		var latin strings.Builder
		letters := func() {
			if latin.Len() > 0 {
				w = append(w, stem(latin.String()))
				latin.Reset()
			}
		}
		end := func() {
			letters()
			if len(w) > 0 {
				out, w = append(out, w), nil
			}
		}
		for _, r := range norm.NFKD.String(text) {
			r = unicode.ToLower(r)
			switch {
			case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				if latin.Len() < 40 {
					latin.WriteRune(r)
				}
			case unicode.IsMark(r):
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				letters()
				w = append(w, fmt.Sprintf("u%x", r))
			default:
				end()
			}
			if n++; len(w) > 64 || len(out) > maxWords {
				end()
			}
		}
		end()
	}
	return out[:min(len(out), maxWords)]
}

// stem removes the ending of an English plural.
func stem(w string) string {
	switch {
	case len(w) < 4 || strings.HasSuffix(w, "ss"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "oes"):
		return w[:len(w)-2]
	}
	return strings.TrimSuffix(w, "s")
}

// text is what FTS5 stores of a column.
func text(ws []word) string {
	var b strings.Builder
	for _, w := range ws {
		for _, t := range w {
			b.WriteString(t)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// maxPosition is the highest position of a word in PostgreSQL.
const maxPosition = 16383

// vector makes a tsvector of title and body, in PostgreSQL's syntax. The title weighs more.
func vector(title, body []word) string {
	var b strings.Builder
	at := 0
	for i, ws := range [][]word{title, body} {
		for _, w := range ws {
			for _, t := range w {
				if at++; at <= maxPosition {
					fmt.Fprintf(&b, "%s:%d%s ", t, at, [...]string{"A", "C"}[i])
				}
			}
			at++ // no phrase extends beyond the end of a word
		}
	}
	return b.String()
}

// matchSQLite makes a query for FTS5: all words, the last one also as a prefix.
func matchSQLite(ws []word) string {
	var parts []string
	for i, w := range ws {
		p := `"` + strings.Join(w, " ") + `"`
		if i == len(ws)-1 {
			p += " *"
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, " AND ")
}

// matchPostgres is the same as a tsquery.
func matchPostgres(ws []word) string {
	var parts []string
	for i, w := range ws {
		p := strings.Join(w, " <-> ")
		if i == len(ws)-1 {
			p += ":*"
		}
		parts = append(parts, "("+p+")")
	}
	return strings.Join(parts, " & ")
}
