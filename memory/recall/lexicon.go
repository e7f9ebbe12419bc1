package recall

import (
	_ "embed" // for packedWords
	"math"
	"slices"
	"strings"
	"sync"
)

// packedWords are lexicon.txt and pairs.txt, deflated, with terms in place of words, because
// stemming takes long. It has lines HEADS : MEMBERS, then a zero byte, then lines of a term, or two
// separated by a space, and its Chinese words, separated by tabs. TestLexiconFiles writes it with
// -update.
//
//go:embed words.deflate
var packedWords []byte

const (
	lexiconFellow   = .3  // weight of a topic that the question names by one of its members
	lexiconMaxShare = .05 // terms in a greater share of the documents are left out
)

// lexicon is the everyday lexicon, by terms.
type lexicon struct {
	clusters [][]string       // terms of each cluster
	heads    map[string][]int // clusters that a term is a head of
	members  map[string][]int
	pairs    *Dictionary
	english  map[string][]string // Chinese words for the terms of clusters
}

var theLexicon = sync.OnceValue(func() *lexicon {
	b, err := inflated(packedWords)
	if err != nil {
		panic(err) // the data is embedded, and a test reads it
	}
	l := &lexicon{heads: map[string][]int{}, members: map[string][]int{}, english: map[string][]string{}}
	clusters, pairs, _ := strings.Cut(string(b), "\x00")
	var ps []pair
	for line := range strings.Lines(pairs) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i, zh := range f[1:] {
			ps = append(ps, pair{f[0], zh, int32(i), 0})
		}
	}
	l.pairs = dictionaryOf(ps)
	for line := range strings.Lines(strings.Clone(clusters)) { // so that these don't keep the pairs in memory
		heads, members, _ := strings.Cut(line, ":")
		n := len(l.clusters)
		all := strings.Fields(heads)
		for _, h := range all {
			l.heads[h] = append(l.heads[h], n)
		}
		for _, m := range strings.Fields(members) {
			if !slices.Contains(all, m) {
				l.members[m] = append(l.members[m], n)
				all = append(all, m)
			}
		}
		l.clusters = append(l.clusters, all)
		for _, term := range all {
			l.english[term] = l.pairs.inChinese(term)
		}
	}
	return l
})

// knows reports whether the lexicon or a built-in pair has a term.
func (l *lexicon) knows(term string) bool {
	return len(l.heads[term]) > 0 || len(l.members[term]) > 0 || len(l.pairs.inChinese(term)) > 0
}

// matter is a word of the question that may belong to a topic of the lexicon.
type matter struct {
	term string
	word int // index of the word in the question
}

// LexiconHeadwords returns the head words of each line of the everyday lexicon, in its
// order.
func LexiconHeadwords() []string {
	l := theLexicon()
	out := make([]string, len(l.clusters))
	for n, all := range l.clusters {
		var heads []string
		for _, term := range all {
			if slices.Contains(l.heads[term], n) {
				heads = append(heads, term)
			}
		}
		out[n] = strings.Join(heads, " ")
	}
	return out
}

// matters adds a group for each topic to which the question's words belong, except the lines in
// without.
func (c *core) matters(out *question, asked []matter, without map[int]bool) {
	l := theLexicon()
	at := map[int]int{} // index in groups by cluster
	var groups []group
	var clusters []int
	touch := func(n, word int, w float64) {
		if without[n] {
			return
		}
		i, ok := at[n]
		if !ok {
			i = len(groups)
			at[n] = i
			groups = append(groups, group{signal: sigLexicon, share: shareLexicon})
			clusters = append(clusters, n)
		}
		groups[i].weight = math.Max(groups[i].weight, w)
		groups[i].words = append(groups[i].words, word)
	}
	own := map[string]bool{}
	for _, a := range asked {
		own[a.term] = true
		for _, n := range l.heads[a.term] {
			touch(n, a.word, 1)
		}
		for _, n := range l.members[a.term] {
			touch(n, a.word, lexiconFellow)
		}
	}
	for i, n := range clusters {
		g := &groups[i]
		if out.bare && g.weight == 1 {
			g.share = shareBare
		}
		// The Chinese words are a group of their own, because how rare a word is depends on its
		// language. A Chinese question has closer words for it.
		other := *g
		for _, s := range l.clusters[n] {
			if own[s] {
				continue
			}
			for _, t := range c.found(s, 1) {
				if c.isRare(t) {
					g.terms = append(g.terms, t)
				}
			}
			for _, zh := range l.english[s] {
				for _, t := range c.chinese(zh) {
					if !out.han && c.isRare(t) && !slices.ContainsFunc(other.terms, func(o weighted) bool { return o.term == t.term }) {
						other.terms = append(other.terms, t)
					}
				}
			}
		}
		c.addGroup(out, *g)
		c.addGroup(out, other)
	}
}

// isRare reports whether few enough documents have a term for it to say something of a topic.
func (c *core) isRare(t weighted) bool {
	return float64(c.lists[t.term].df) <= lexiconMaxShare*float64(c.counted)+1
}
