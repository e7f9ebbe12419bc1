package recall

import (
	"slices"
	"strings"
)

// The fellows of a word are those of its language that share a translation with it: "begin" and "start"
// are both 开始, and 大夫 and 医生 are both "doctor". Often they mean nearly the same, so a question's word
// also finds its fellows, with the weight of a word of the same topic. The translation may be one of
// another meaning of the word, so a fellow says as little for confidence as such a word does.

// fellowsOfEnglish adds a group of the fellows of each English word of the question. at has the index
// in out.worth of each term of the question. A term of the question is no fellow.
func (c *core) fellowsOfEnglish(out *question, words []word, at map[string]int) {
	pairs := theLexicon().pairs
	for _, x := range words {
		n, is := at[x.term]
		if !is || x.han || generalWords()[x.term] || out.worth[n] == 0 {
			continue
		}
		g := group{signal: sigLexicon, weight: lexiconFellow, words: []int{n}, share: shareLexicon}
		for _, zh := range pairs.inChinese(x.term) {
			for _, en := range pairs.inEnglish(zh) {
				if _, asked := at[en]; !asked && !strings.Contains(en, " ") && !generalWords()[en] {
					g.terms = c.addRare(g.terms, c.found(en, 1))
				}
			}
		}
		c.addGroup(out, g)
	}
}

// fellowsOfChinese adds a group of the fellows of a Chinese word of the question, whose characters
// and pairs have the given indexes in out.worth.
func (c *core) fellowsOfChinese(out *question, word string, indexes []int) {
	if len([]rune(word)) < 2 || len(indexes) == 0 {
		return
	}
	pairs := theLexicon().pairs
	own := c.chinese(word)
	g := group{signal: sigLexicon, weight: lexiconFellow, words: indexes, share: shareLexicon}
	for _, en := range pairs.inEnglish(word) {
		if generalWords()[en] {
			continue
		}
		for _, zh := range pairs.inChinese(en) {
			if len([]rune(zh)) < 2 {
				continue
			}
			terms := slices.DeleteFunc(c.chinese(zh), func(t weighted) bool {
				return slices.ContainsFunc(own, func(o weighted) bool { return o.term == t.term })
			})
			g.terms = c.addRare(g.terms, terms)
		}
	}
	c.addGroup(out, g)
}

// addRare adds the terms that are new, except those that many documents have.
func (c *core) addRare(to, terms []weighted) []weighted {
	for _, t := range terms {
		if c.isRare(t) && !slices.ContainsFunc(to, func(o weighted) bool { return o.term == t.term }) {
			to = append(to, t)
		}
	}
	return to
}
