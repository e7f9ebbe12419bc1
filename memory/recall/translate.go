package recall

import (
	"slices"
	"strings"
)

// A question in one language finds what was said in the other by the built-in pairs, and by those
// of a dictionary if there is one.

// chinese returns the terms of a Chinese word: its pairs, or its only character.
func (c *core) chinese(word string) []weighted {
	r := []rune(word)
	if len(r) == 1 {
		return c.found(word, weightCharacter)
	}
	var out []weighted
	for i := range len(r) - 1 {
		out = append(out, c.found(string(r[i:i+2]), 1/float64(len(r)-1))...)
	}
	return out
}

// inOther returns the terms in documents for the Chinese translations of an English term.
func (c *core) inOther(term string) (out []weighted) {
	known := theLexicon().pairs.inChinese(term)
	for _, zh := range known {
		out = append(out, c.chinese(zh)...)
	}
	return c.more(out, c.dictionary.inChinese(term), c.chinese, len(known) > 0)
}

// more adds the terms of further translations, which have less weight if there are others already.
func (c *core) more(out []weighted, words []string, terms func(string) []weighted, others bool) []weighted {
	for _, word := range words {
		for _, t := range terms(word) {
			if others {
				t.weight *= weightDictionary
			}
			if !slices.ContainsFunc(out, func(o weighted) bool { return o.term == t.term }) {
				out = append(out, t)
			}
		}
	}
	return out
}

// compounds adds a group for each two English words that have one translation together, next to
// each other or with grammar words between or after them: "washing machine", "mother-in-law", "give
// up".
func (c *core) compounds(out *question, words []word, at map[string]int) {
	for i, a := range words {
		if a.han || a.term == "" {
			continue
		}
		for j := i + 1; j < len(words) && !words[j].han; j++ {
			b := words[j]
			second := b.term
			if b.stop && j == i+1 {
				second = b.text
			}
			if second == "" {
				continue
			}
			g := group{signal: sigMatch, weight: 1, share: 1, terms: c.inOther(a.term + " " + second)}
			for _, w := range []word{a, b} {
				if n, ok := at[w.term]; ok {
					g.words = append(g.words, n)
				}
			}
			c.addGroup(out, g)
			if !b.stop {
				break
			}
		}
	}
}

// translation is an English term for a Chinese word.
type translation struct {
	term   string
	weight float64
}

// english returns the translations of a Chinese word, the built-in pairs first.
func (c *core) english(word string) (out []translation) {
	add := func(all []string, weight float64) {
		for _, en := range all {
			terms := strings.Fields(en) // for a translation of two words, each counts half
			for _, term := range terms {
				if !slices.ContainsFunc(out, func(o translation) bool { return o.term == term }) {
					out = append(out, translation{term, weight / float64(len(terms))})
				}
			}
		}
	}
	add(theLexicon().pairs.inEnglish(word), 1)
	weight := 1.0
	if len(out) > 0 {
		weight = weightDictionary
	}
	add(c.dictionary.inEnglish(word), weight)
	return out
}

// longestWord returns the length in characters of the longest known word at the beginning of the
// run, and its translations; 0: there is none.
func (c *core) longestWord(run []rune) (int, []translation) {
	longest := theLexicon().pairs.longest
	if c.dictionary != nil {
		longest = max(longest, c.dictionary.longest)
	}
	for n := min(longest, len(run)); n > 0; n-- {
		if n == 1 && len(run) > 2 && strings.ContainsRune("了过个", run[1]) { // 离过婚 is 离婚
			if all := c.english(string([]rune{run[0], run[2]})); len(all) > 0 {
				return 3, all
			}
		}
		if all := c.english(string(run[:n])); len(all) > 0 {
			return n, all
		}
	}
	return 0, nil
}

// translated adds a group of English terms for each known Chinese word of the question, the longest
// words first, and adds these terms to the question's topics.
func (c *core) translated(out *question, words []word, at map[string]int, asked []matter) []matter {
	var run []rune
	end := func() {
		for len(run) > 0 {
			n, all := c.longestWord(run)
			if n == 0 {
				run = run[1:]
				continue
			}
			asked = c.translatedWord(out, run[:n], all, at, asked)
			run = run[n:]
		}
	}
	for _, w := range words {
		switch r := []rune(w.text); {
		case !w.han:
			end()
		case len(r) == 1:
			run = append(run, r[0])
		}
	}
	end()
	return asked
}

func (c *core) translatedWord(out *question, chinese []rune, all []translation, at map[string]int, asked []matter) []matter {
	g := group{signal: sigMatch, weight: 1, share: 1}
	for j := range chinese {
		for _, s := range []string{string(chinese[j]), string(chinese[j:min(j+2, len(chinese))])} {
			if w, ok := at[s]; ok {
				g.words = append(g.words, w)
			}
		}
	}
	if len(chinese) == 1 { // a character that is a word by itself says as much as its translation
		g.weight = weightWord
		g.terms = c.found(string(chinese), 1)
	}
	for _, en := range all {
		g.terms = append(g.terms, c.found(en.term, en.weight)...)
		if len(g.words) > 0 {
			asked = append(asked, matter{en.term, g.words[len(g.words)-1]})
		}
	}
	c.addGroup(out, g)
	c.fellowsOfChinese(out, string(chinese), g.words)
	return asked
}
