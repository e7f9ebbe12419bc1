package main

import (
	"math/rand/v2"

	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

const (
	tagMargin = 10 // by how much the right tag must be better than the best wrong one
)

// learnTags trains a tagger on sentences for some rounds.
func learnTags(trees []*tree, tags, rounds int) *table {
	t := newTable()
	tagger := &greedy.Tagger{Weights: t, Tags: tags}
	random := rand.New(rand.NewPCG(1, 2))
	told := make([]uint8, 0, 512)
	for range rounds {
		for _, k := range random.Perm(len(trees)) {
			s := trees[k]
			told = append(told[:0], s.gold...)
			for i := range s.words {
				features, scores := tagger.Look(s.words, told, i)
				clear(scores)
				t.Add(features, scores)
				right, wrong := int(s.gold[i]), -1
				for c := range scores {
					if c != right && (wrong < 0 || scores[c] > scores[wrong]) {
						wrong = c
					}
				}
				t.time++
				if scores[right]-scores[wrong] < tagMargin {
					t.update(features, right, wrong)
				}
				if scores[wrong] >= scores[right] {
					told[i] = uint8(wrong)
				} else {
					told[i] = uint8(right)
				}
			}
		}
	}
	return t
}
