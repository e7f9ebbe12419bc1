package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/locket-dev/locket/wasm/plugins/syntax/conllu"
	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

// names numbers tags or labels, the most frequent first.
type names struct {
	list   []string
	number map[string]uint8
}

func number(count map[string]int) names {
	n := names{number: map[string]uint8{}}
	for s := range count {
		n.list = append(n.list, s)
	}
	slices.SortFunc(n.list, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for i, s := range n.list {
		n.number[s] = uint8(i)
	}
	return n
}

// learning is what is learnt of one language.
type learning struct {
	tags, labels names
	tagOf        func(conllu.Word) string
	labelOf      func(conllu.Word) string
	word         func(string) greedy.Word
	log          io.Writer
}

// How weights are kept: steps for each update, and the fewest that are worth
// their room; the parser has the most features.
const (
	scale      = 4
	least      = 3
	leastParse = 8
)

// rare tags and moves are left out.
const (
	rareTag  = 20
	rareMove = 5
)

func (l *learning) name(list []conllu.Sentence) {
	tags, labels := map[string]int{}, map[string]int{}
	for _, s := range list {
		for _, w := range s.Words {
			tags[l.tagOf(w)]++
			labels[l.labelOf(w)]++
		}
	}
	// A rare tag becomes the most frequent one of its part of speech.
	common := map[string]string{}
	for t, n := range tags {
		u, _, _ := strings.Cut(t, "/")
		if b, ok := common[u]; !ok || n > tags[b] || n == tags[b] && t < b {
			common[u] = t
		}
	}
	of := l.tagOf
	l.tagOf = func(w conllu.Word) string {
		if t := of(w); tags[t] >= rareTag {
			return t
		}
		return common[w.UPOS]
	}
	kept := map[string]int{}
	for t, n := range tags {
		if u, _, _ := strings.Cut(t, "/"); n >= rareTag || common[u] == t {
			kept[t] = n
		}
	}
	labels["root"] = 1 << 30 // it is the first
	l.tags, l.labels = number(kept), number(labels)
}

func (l *learning) trees(list []conllu.Sentence) []*tree {
	var out []*tree
	for _, s := range list {
		t := &tree{}
		for _, w := range s.Words {
			t.words = append(t.words, l.word(w.Form))
			t.gold = append(t.gold, l.tags.number[l.tagOf(w)])
			h := w.Head
			if h < 0 {
				h = len(s.Words)
			}
			t.head = append(t.head, h)
			t.label = append(t.label, l.labels.number[l.labelOf(w)])
		}
		out = append(out, t)
	}
	return out
}

// tell gives each tree the tags that a tagger tells that did not learn from
// it, nor from the same sentence otherwise written.
func (l *learning) tell(trees []*tree, from []int, folds, rounds int) {
	var all sync.WaitGroup
	for k := range folds {
		all.Go(func() {
			var part []*tree
			for i, t := range trees {
				if from[i]%folds != k {
					part = append(part, t)
				}
			}
			q := learnTags(part, len(l.tags.list), rounds).quantise(scale, 1)
			tagger := &greedy.Tagger{Weights: weights(q, len(l.tags.list)), Tags: len(l.tags.list)}
			for i, t := range trees {
				if from[i]%folds == k {
					t.tags = make([]uint8, len(t.words))
					tagger.Tag(t.words, t.tags)
				}
			}
		})
	}
	all.Wait()
	right, n := 0, 0
	for _, t := range trees {
		for i := range t.tags {
			n++
			if t.tags[i] == t.gold[i] {
				right++
			}
		}
	}
	fmt.Fprintf(l.log, "told tags: %.2f %% are right\n", 100*float64(right)/float64(n))
}

func (l *learning) moves(trees []*tree) []greedy.Move {
	seen := map[greedy.Move]int{}
	for _, t := range trees {
		for i, h := range t.head {
			k := greedy.Left
			if h < i {
				k = greedy.Right
			}
			seen[greedy.Move{Kind: k, Label: t.label[i]}]++
		}
	}
	moves := []greedy.Move{{Kind: greedy.Shift}}
	for m, n := range seen {
		if n >= rareMove {
			moves = append(moves, m)
		}
	}
	slices.SortFunc(moves, func(a, b greedy.Move) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Label, b.Label))
	})
	return moves
}

// parse learns to parse; after each round, what is learnt so far is handed on.
func (l *learning) parse(trees []*tree, moves []greedy.Move, coarse []uint8, rounds int, after func(*table) error) error {
	t := newTable()
	learner := &learner{
		parser: &greedy.Parser{Weights: t, Moves: moves, Coarse: coarse},
		table:  t, random: rand.New(rand.NewPCG(3, 4)),
	}
	for r := range rounds {
		for i, k := range learner.random.Perm(len(trees)) {
			learner.tree(trees[k], r > 0)
			if i%2000 == 1999 {
				fmt.Fprintf(l.log, "parser, round %d: %d of %d sentences\n", r+1, i+1, len(trees))
			}
		}
		fmt.Fprintf(l.log, "parser, round %d: %d features, %d wrong moves of %d\n", r+1, len(t.rows), learner.wrong, t.time)
		if err := after(t); err != nil {
			return err
		}
	}
	return nil
}

func (l *learning) coarse() []uint8 {
	known := map[string]uint8{}
	var out []uint8
	for _, t := range l.tags.list {
		u, _, _ := strings.Cut(t, "/")
		if _, ok := known[u]; !ok {
			known[u] = uint8(len(known))
		}
		out = append(out, known[u])
	}
	return out
}

func weights(q map[uint32][]greedy.Weight, classes int) greedy.Weights {
	w, err := greedy.OpenWeights(string(greedy.Encode(q)), classes)
	if err != nil {
		panic(err) // it was just encoded
	}
	return w
}
