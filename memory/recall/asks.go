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

// relatives are words for family and friends.
var relatives = roleWords(`mother mum mom father dad parent son daughter child kid brother sister sibling twin husband wife partner
grandmother granny grandma grandfather grandad grandpa aunt uncle cousin nephew niece friend neighbor neighbour
母亲 父亲 妈妈 爸爸 儿子 女儿 孩子 哥哥 弟弟 姐姐 妹妹 丈夫 妻子 老公 老婆 奶奶 爷爷 外婆 外公 姑姑 阿姨 叔叔 舅舅 表哥 表姐 表弟 表妹 朋友 邻居 妈 爸 哥 姐 弟 妹`)

// thingOf returns the index in out.worth of the relative about whose thing the question asks, and those of
// the words for that thing: "where is my sister's passport", 我姐的护照在哪. A name is no thing.
func (out *question) thingOf(text string, words []word, at map[string]int) (whose int, thing []int) {
	for i, w := range words {
		n, ok := at[w.term]
		if !ok || out.worth[n] == 0 || !relatives[w.term] || w.clip != "'s" && !(w.han && strings.Contains(text, w.text+"的")) {
			continue
		}
		pairs := 0
		for _, o := range words[i+1:] {
			if k, asked := at[o.term]; asked && k != n && out.worth[k] > 0 {
				if o.han && len([]rune(o.text)) > 1 {
					pairs++
					thing = slices.Insert(thing, pairs-1, k)
				} else {
					thing = append(thing, k)
				}
			}
			if o.text == "name" || o.text == "called" || o.text == "名字" {
				return -1, nil
			}
		}
		if pairs > 0 {
			thing = thing[:pairs] // single characters are in many other words
		}
		if len(thing) > 0 {
			return n, thing
		}
	}
	return -1, nil
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
