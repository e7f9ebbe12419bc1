package recall

import (
	_ "embed" // for packedWords
	"math"
	"slices"
	"strings"
	"sync"
)

// packedWords are lexicon.txt and pairs.txt, deflated, with terms for words, because stemming takes long: lines HEADS :
// MEMBERS, a zero byte, and lines of a term, or two with a space between, and its Chinese words, with tabs between.
// TestLexiconFiles writes it with -update.
//
//go:embed words.deflate
var packedWords []byte

const (
	lexiconFellow   = .3  // weight of a matter that the question names by one of its members
	lexiconMaxShare = .05 // terms in a greater share of documents than this are left out
)

// lexicon is the everyday lexicon, by terms.
type lexicon struct {
	clusters [][]string       // terms of each
	heads    map[string][]int // clusters that a term is a head of
	members  map[string][]int
	pairs    *Dictionary
	english  map[string][]string // Chinese words for the terms of clusters
}

var theLexicon = sync.OnceValue(func() *lexicon {
	b, err := inflated(packedWords)
	if err != nil {
		panic(err) // it is embedded, and a test reads it
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
	for line := range strings.Lines(strings.Clone(clusters)) { // the pairs are not kept for the sake of these
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

// matter is a word of the question by which it may belong to a topic of the
// lexicon.
type matter struct {
	term string
	word int // of the question
}

// Matters returns the head words of each line of the everyday lexicon, in its
// order.
func Matters() []string {
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

// matters adds a group for each topic of the question's words, except those
// that are left out.
func (c *core) matters(out *question, asked []matter, without map[int]bool) {
	l := theLexicon()
	at := map[int]int{} // cluster to its place in groups
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
		// What they are called in Chinese is a group of its own: a word is as rare as in its language.
		// A Chinese question has words for it that are nearer.
		other := *g
		few := func(t weighted) bool { return float64(c.lists[t.term].df) <= lexiconMaxShare*float64(c.counted)+1 }
		for _, s := range l.clusters[n] {
			if own[s] {
				continue
			}
			for _, t := range c.found(s, 1) {
				if few(t) {
					g.terms = append(g.terms, t)
				}
			}
			for _, zh := range l.english[s] {
				for _, t := range c.chinese(zh) {
					if !out.han && few(t) && !slices.ContainsFunc(other.terms, func(o weighted) bool { return o.term == t.term }) {
						other.terms = append(other.terms, t)
					}
				}
			}
		}
		for _, g := range []*group{g, &other} {
			if len(g.terms) > 0 {
				g.idf = c.idf(c.dfOf(g.terms))
				out.groups = append(out.groups, *g)
			}
		}
	}
}
