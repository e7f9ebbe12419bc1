package recall

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
)

//go:embed lexicon.txt
var lexiconText string

//go:embed pairs.txt
var pairsText string

const (
	lexiconFellow   = .3  // weight of a matter that the question names by one of its members
	lexiconMaxShare = .05 // terms in a greater share of documents than this are left out
)

// lexicon is the everyday lexicon, by terms.
type lexicon struct {
	clusters []cluster
	heads    map[string][]int // clusters that a term is a head of
	members  map[string][]int
	english  map[string][]string // Chinese words for an English term
	chinese  map[string][]string // English terms for a Chinese word
	longest  int                 // characters of the longest Chinese word
}

// cluster is the words of one everyday matter.
type cluster struct {
	heads, members []string
}

var theLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{heads: map[string][]int{}, members: map[string][]int{}, english: map[string][]string{}, chinese: map[string][]string{}}
	for line := range strings.Lines(lexiconText) {
		heads, members, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		c := cluster{lemmas(heads), lemmas(members)}
		n := len(l.clusters)
		for _, h := range c.heads {
			l.heads[h] = append(l.heads[h], n)
		}
		for _, m := range c.members {
			if !slices.Contains(c.heads, m) {
				l.members[m] = append(l.members[m], n)
			}
		}
		l.clusters = append(l.clusters, c)
	}
	for line := range strings.Lines(pairsText) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] == "#" || line[0] == '#' {
			continue
		}
		en := lemma(f[0])
		for _, zh := range f[1:] {
			l.english[en] = append(l.english[en], zh)
			l.chinese[zh] = append(l.chinese[zh], en)
			l.longest = max(l.longest, len([]rune(zh)))
		}
	}
	return l
})

func lemmas(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if t := lemma(strings.ReplaceAll(w, "-", "")); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// matters adds a group for each matter that the question's words are of.
func (c *core) matters(out *question, asked []string) {
	l := theLexicon()
	weight := map[int]float64{}
	var order []int
	touch := func(n int, w float64) {
		if _, ok := weight[n]; !ok {
			order = append(order, n)
		}
		weight[n] = math.Max(weight[n], w)
	}
	for _, a := range asked {
		for _, n := range l.heads[a] {
			touch(n, 1)
		}
		for _, n := range l.members[a] {
			touch(n, lexiconFellow)
		}
	}
	for _, n := range order {
		var terms []weighted
		for _, s := range slices.Concat(l.clusters[n].heads, l.clusters[n].members) {
			if slices.Contains(asked, s) {
				continue
			}
			t := c.dict.find(s)
			if t == none || c.lists[t].df == 0 || float64(c.lists[t].df) > lexiconMaxShare*float64(c.counted)+1 {
				continue
			}
			terms = append(terms, weighted{t, 1})
		}
		if len(terms) > 0 {
			out.groups = append(out.groups, group{sigLexicon, c.idf(c.dfOf(terms)), weight[n], terms})
		}
	}
}
