package recall

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
)

// The least length of a word that may be misspelt, for each kind of slip: two
// letters swapped, one too many or too few, or another letter. Short words have
// real words beside them (coach, couch).
const (
	swapLeast   = 5
	changeLeast = 6
	otherLeast  = 7
	slipMost    = 32 // longer words are ignored, because they have too many variants
	typosMost   = 2  // words of a question that are corrected
)

// slipped is a word as it was written, and the terms of all words that it may be.
type slipped struct {
	was string
	all []weighted
}

// correctTypos corrects words of a question that no document has and the lexicon does
// not know, if a known word is one slip away. It returns the places of the
// words that it changed.
func (c *core) correctTypos(words []word) map[int]slipped {
	l := theLexicon()
	var out map[int]slipped
	looked := 0
	for i := range words {
		w := &words[i]
		if w.han || w.term == "" || len(w.text) < swapLeast || len(w.text) > slipMost || looked == typosMost || !letters(w.text) || c.holds(w.term) || c.knows(w.text) {
			continue
		}
		if l.knows(w.term) || len(c.dictionary.inChinese(w.term)) > 0 || isTimeWord(w.text) {
			continue
		}
		looked++
		if s, all := c.nearest(w.text); s != "" {
			if out == nil {
				out = map[int]slipped{}
			}
			out[i] = slipped{w.term, all}
			w.text, w.term = s, lemma(s)
		}
	}
	return out
}

func (c *core) holds(term string) bool {
	return c.has(c.dict.find(term))
}

func letters(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

func isTimeWord(s string) bool {
	return calendar.MonthNamed(s) > 0 || calendar.Weekdays(s) > 0 || timeUnit(s) != 0 || number(s) > 0
}

// nearest returns the word that is one slip away and in most documents, and the terms of all such
// words. Documents or the lexicon must have the word. It is empty if there is none. A swap is tried
// before any other slip.
func (c *core) nearest(s string) (best string, all []weighted) {
	most := uint32(0)
	l := theLexicon()
	try := func(b []byte) {
		w := string(b)
		term := lemma(w)
		t := c.dict.find(term)
		in := c.has(t)
		if !in && (most > 0 || !l.knows(term)) || stopWords[w] {
			return
		}
		n := uint32(1) // if no document has it, it still is a word
		if in {
			n = c.lists[t].n
			if !slices.Contains(all, weighted{t, 1}) {
				all = append(all, weighted{t, 1})
			}
		}
		if n > most {
			best, most = strings.Clone(w), n // so that all other w need no memory
		}
	}
	b := make([]byte, 0, len(s)+1)
	for i := 0; i+1 < len(s); i++ {
		b = append(b[:0], s...)
		b[i], b[i+1] = b[i+1], b[i]
		try(b)
	}
	if best != "" || len(s) < changeLeast {
		return best, all
	}
	for i := range len(s) {
		try(append(append(b[:0], s[:i]...), s[i+1:]...))
	}
	for i := 1; i <= len(s); i++ {
		for l := byte('a'); l <= 'z'; l++ {
			try(append(append(append(b[:0], s[:i]...), l), s[i:]...))
			if i < len(s) && len(s) >= otherLeast {
				b = append(b[:0], s...)
				b[i] = l
				try(b)
			}
		}
	}
	return best, all
}

// Limits for words of similar spelling. Two terms are alike if the Dice
// coefficient of their four-letter runs is at least the first constant. At most
// the second many such terms are used. A run of letters that more terms than
// the third share is ignored.
const (
	alikeLeast = .4
	alikeMost  = 8
	gramMost   = 1000
)

// spelt adds a group of the terms that are spelt like the term.
func (c *core) spelt(out *question, term string, word int, s *scratch) {
	n := 0
	eachGram(term, func(g uint32) {
		n++
		l := c.grams.lists[g]
		if len(l) > gramMost {
			return
		}
		for _, t := range l {
			if s.shared[t] == 0 {
				s.alike = append(s.alike, t)
			}
			s.shared[t]++
		}
	})
	var terms []weighted
	for _, t := range s.alike {
		shared := s.shared[t]
		s.shared[t] = 0
		if 2*float64(shared)/float64(n+gramsLeast) < alikeLeast {
			continue
		}
		theirs := len(c.dict.bytes(t)) - 1
		like := 2 * float64(shared) / float64(n+theirs)
		if like >= alikeLeast && c.has(t) {
			terms = append(terms, weighted{t, math.Min(like, 1)})
		}
	}
	s.alike = s.alike[:0]
	slices.SortFunc(terms, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), bytes.Compare(c.dict.bytes(a.term), c.dict.bytes(b.term)))
	})
	terms = terms[:min(len(terms), alikeMost)]
	if len(terms) > 0 {
		out.groups = append(out.groups, group{sigString, c.idf(c.dfOf(terms)), 1, terms, []int{word}, shareSpelt})
	}
}
