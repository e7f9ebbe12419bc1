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
	clusters [][]string       // terms of each
	heads    map[string][]int // clusters that a term is a head of
	members  map[string][]int
	english  map[string][]string // Chinese words for an English term, or for two with a space between
	chinese  map[string][]string // English terms for a Chinese word, likewise
	longest  int                 // characters of the longest Chinese word
}

var theLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{heads: map[string][]int{}, members: map[string][]int{}, english: map[string][]string{}, chinese: map[string][]string{}}
	for line := range strings.Lines(lexiconText) {
		heads, members, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n := len(l.clusters)
		all := lemmas(heads)
		for _, h := range all {
			l.heads[h] = append(l.heads[h], n)
		}
		for _, m := range lemmas(members) {
			if !slices.Contains(all, m) {
				l.members[m] = append(l.members[m], n)
				all = append(all, m)
			}
		}
		l.clusters = append(l.clusters, all)
	}
	for line := range strings.Lines(pairsText) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] == "#" || line[0] == '#' {
			continue
		}
		en := spaced(f[0])
		for _, zh := range f[1:] {
			l.english[en] = append(l.english[en], zh)
			l.chinese[zh] = append(l.chinese[zh], en)
			l.longest = max(l.longest, len([]rune(zh)))
		}
	}
	return l
})

// spaced returns the terms of an English word, or those of words with hyphens between: "mother-in-law" is
// mother and law.
func spaced(s string) string {
	words := strings.Split(s, "-")
	words = slices.DeleteFunc(words, func(w string) bool { return stopWords[w] })
	for i, w := range words {
		words[i] = lemma(w)
	}
	return strings.Join(words, " ")
}

func lemmas(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if t := lemma(strings.ReplaceAll(w, "-", "")); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

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
