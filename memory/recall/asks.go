package recall

import (
	"slices"
	"strings"
)

// asksWhether are the words that begin a yes-or-no question.
var asksWhether = set(`do does did am is are was were have has had`)

// If such a question has more than mostWhether words, one document need not have all of them.
const mostWhether = 2

// whether returns the indexes in question.worth of the words of a yes-or-no question. Names of
// speakers are left out. "Am I allergic to cats" is answered by what has both words, and not by one
// allergy and another's cat. It returns nil if the question is not a yes-or-no question, has more
// than mostWhether words, or is Chinese.
func (c *core) whether(words []word, at map[string]int, worth []float64) (all []int) {
	if len(words) == 0 || !asksWhether[words[0].text] {
		return nil
	}
	for _, w := range words {
		n, ok := at[w.term]
		if !ok || w.term == "" || worth[n] == 0 || slices.Contains(all, n) || c.speaks(w.text) != none {
			continue
		}
		all = append(all, n)
	}
	if len(all) > mostWhether {
		return nil
	}
	return all
}

// owned records the owner: the person about whose thing the question asks. If a name is known,
// similarly spelt names are not meant: Anna is not Hanna. The name by itself is not an answer.
func (c *core) owned(out *question, owner string, at map[string]int) {
	out.owned = true
	words := split(owner)
	long := slices.ContainsFunc(words, func(w word) bool { return w.han && len([]rune(w.text)) > 1 })
	rest, names := out.asks, map[int]bool{}
	for _, w := range words {
		if n := c.speaks(w.text); n != none {
			out.ownerSpeaks = append(out.ownerSpeaks, n)
		}
		n, ok := at[w.term]
		if !ok || w.term == "" {
			continue
		}
		names[n] = out.stands(n)
		rest -= out.worth[n]
		if long && w.han && len([]rune(w.text)) == 1 {
			continue
		}
		known := len(c.found(w.term, 1)) > 0
		for g := range out.groups {
			if s := out.groups[g].signal; s != sigLexicon && !(s == sigString && known) && slices.Contains(out.groups[g].words, n) {
				out.owner = append(out.owner, g)
			}
		}
	}
	if rest < 1e-9 {
		return // nothing else is asked for
	}
	for n, known := range names {
		if known {
			out.asks -= out.worth[n]
			out.worth[n] = 0
		}
	}
}

// relatives are words with which a question names relatives and friends.
var relatives = roleWords(family + ` mum mom dad kid granny grandma grandad grandpa 妈 爸 哥 姐 弟 妹`)

// thingOf reads a question about a thing of a relative: "where is my sister's passport", 我姐的护照在哪. It
// returns the indexes in worth of the relative, and of the words for the thing. thing is empty if the
// question is not about one, or asks for a name.
func (q *question) thingOf(words []word, at map[string]int) (relative int, thing []int) {
	for i, w := range words {
		n, ok := at[w.term]
		if !ok || q.worth[n] == 0 || !relatives[w.term] || !owns(words, i) {
			continue
		}
		var pairs, others []int
		for _, o := range words[i+1:] {
			k, asked := at[o.term]
			switch {
			case o.text == "name" || o.text == "called" || o.text == "名字":
				return 0, nil
			case !asked || k == n || q.worth[k] == 0:
			case o.han && len([]rune(o.text)) > 1:
				pairs = append(pairs, k)
			default:
				others = append(others, k)
			}
		}
		if len(pairs) > 0 {
			return n, pairs // single characters are in many other words
		}
		if len(others) > 0 {
			return n, others
		}
	}
	return 0, nil
}

// owns reports whether the word at index i is followed by "'s" or 的.
func owns(words []word, i int) bool {
	w := words[i]
	next := i + len([]rune(w.text)) // for a Chinese word, the pair of its last character and the one after it
	return w.clip == "'s" || w.han && next < len(words) && strings.HasSuffix(words[next].text, "的")
}

// beforeSubject are the words after which a question names its subject.
var beforeSubject = set(`of is are was were do does did has have had will would can could should may might shall`)

// possessive words come before the subject of a question: "my brother".
var possessive = set(`my our his her their your`)

// strange reports whether a question is about somebody, or something, that no
// document knows: a name in none of the groups, after "does" or "is", or
// before "'s".
func (q *question) strange(text string, words []word, at map[string]int) bool {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	for i, w := range words {
		if w.stop || w.term == "" {
			continue
		}
		if i > 0 && possessive[words[i-1].text] && !w.han && !q.bare {
			if n, ok := at[w.term]; ok && q.worth[n] > 0 && !q.stands(n) {
				return true
			}
		}
		if !w.capital {
			continue
		}
		about := i > 0 && beforeSubject[words[i-1].text] || strings.Contains(text, w.text+"'s ")
		n, ok := at[w.term]
		if about && ok && q.worth[n] > 0 && !q.stands(n) {
			return true
		}
	}
	return false
}

// asksBare reports whether the wearer asks for their own things of one sort, by a plural, and for
// nothing else.
func asksBare(words []word, worth []float64) bool {
	mine, several, n := false, false, 0
	for _, w := range words {
		mine = mine || w.text == "my"
		several = several || w.term != "" && strings.HasSuffix(w.text, "s") && !strings.HasSuffix(w.text, "ss")
	}
	for _, v := range worth {
		if v > 0 {
			n++
		}
	}
	return mine && several && n == 1
}

// stands reports whether some group matches a word of the question other than by its topic.
func (q *question) stands(word int) bool {
	for i := range q.groups {
		g := &q.groups[i]
		if g.signal == sigLexicon {
			continue
		}
		for _, w := range g.words {
			if w == word {
				return true
			}
		}
	}
	return false
}
