package recall

import (
	"slices"
	"strings"
	"unicode"
)

// A code is a string that is identified by its letters and digits: a flight, a telephone number, a
// licence plate, an id. People write one with or without spaces and hyphens, so a code is also a
// term in one piece: "LH 1234", "lh-1234" and "LH1234" are lh1234.
//
// Its pieces contain a digit, or are up to four capitals next to a piece that does. Each part of a
// run of pieces is a code as well, because it is not known where a code ends: "call 555 0199 12
// times".
const (
	codeLeast  = 4 // characters of a code
	codeMost   = 40
	codePieces = 6 // pieces of a run
	codeTerms  = 64
)

// code is one reading of a run of pieces.
type code struct {
	term  string   // with its mark
	words []string // the pieces, as words
}

// codes returns the distinct codes of a text, the longest of a run first.
func codes(text string) []code {
	var out []code
	var run []string
	end := func() {
		for n := len(run); n > 0; n-- {
			for i := 0; i+n <= len(run); i++ {
				c := code{codeMark + strings.Join(run[i:i+n], ""), slices.Clone(run[i : i+n])}
				digit := strings.ContainsAny(c.term, "0123456789")
				if l := len(c.term) - 1; digit && l >= codeLeast && l <= codeMost && len(out) < codeTerms &&
					!slices.ContainsFunc(out, func(o code) bool { return o.term == c.term }) {
					out = append(out, c)
				}
			}
		}
		run = run[:0]
	}
	for len(text) > 0 {
		n := strings.IndexFunc(text, inCode)
		if n < 0 {
			break
		}
		if gap := text[:n]; len(run) == codePieces || len(run) > 0 && (len(gap) > 3 || strings.Trim(gap, " -./:()") != "") {
			end()
		}
		text = text[n:]
		n = strings.IndexFunc(text, func(r rune) bool { return !inCode(r) })
		if n < 0 {
			n = len(text)
		}
		w := text[:n]
		text = text[n:]
		if strings.ContainsAny(w, "0123456789") || len(w) <= 4 && strings.ToUpper(w) == w && w != "I" {
			run = append(run, strings.ToLower(w))
		} else {
			end()
		}
	}
	end()
	return out
}

func inCode(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// codeGroups adds the codes of the question: from each run of words the longest
// code that some document has. at has the indexes of the question's terms in out.worth. The parts
// of a date are not a code: a memory has the date written out where its line says "yesterday", so a
// code 2023 would rank memories above lines for every question that names the year.
func (c *core) codeGroups(out *question, text string, words []word, f *found, at map[string]int) {
	var taken []string
	for _, k := range codes(text) {
		if f.dates(words, k.words) || slices.ContainsFunc(taken, func(t string) bool { return strings.Contains(t, k.term[1:]) }) {
			continue
		}
		terms := c.found(k.term, 1)
		if len(terms) == 0 {
			continue
		}
		taken = append(taken, k.term)
		g := group{signal: sigCode, idf: c.idf(c.dfOf(terms)), weight: float64(len(k.term) - 1), terms: terms, share: 1}
		for _, w := range k.words {
			for _, x := range split(w) {
				if i, ok := at[x.term]; ok {
					g.words = append(g.words, i)
				}
			}
		}
		out.groups = append(out.groups, g)
		out.coded = true
		if out.shape == Plain {
			out.shape = Exact
		}
	}
}

// timeBefore are the words after which a number is a year, and not the number of a room.
var timeBefore = set(`in of since until till by before after during from year around for early late mid last next this`)

// dates reports whether each piece of a code belongs to a time that was read.
func (f *found) dates(words []word, pieces []string) bool {
	for _, p := range pieces {
		i := slices.IndexFunc(words, func(w word) bool { return w.text == p })
		if i < 0 || !f.consumed[i] {
			return false
		}
		if len(pieces) == 1 && i > 0 && !f.consumed[i-1] && !timeBefore[words[i-1].text] && (i+1 == len(words) || words[i+1].text != "年") {
			return false
		}
	}
	return true
}
