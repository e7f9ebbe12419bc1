package language

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// WordIndex finds the memories that are nearest to a text, by the words that they
// share. Rare words count more. A worker has no index on its disk, so it makes
// a WordIndex for each batch. It is safe for concurrent use after all memories were
// added.
type WordIndex struct {
	memories []memory.Memory
	by       map[string][]int // indexes in memories, by word
}

// Add adds a memory.
func (s *WordIndex) Add(m memory.Memory) {
	if s.by == nil {
		s.by = map[string][]int{}
	}
	at := len(s.memories)
	s.memories = append(s.memories, m)
	for w := range words(m.Text) {
		s.by[w] = append(s.by[w], at)
	}
}

// Near returns at most k memories of one type, the nearest first.
func (s *WordIndex) Near(text string, of memory.Type, k int) []memory.Memory {
	score := map[int]float64{}
	for w := range words(text) {
		list := s.by[w]
		idf := math.Log(1 + float64(len(s.memories))/float64(1+len(list)))
		for _, at := range list {
			if s.memories[at].Type == of {
				score[at] += idf
			}
		}
	}
	places := slices.Collect(maps.Keys(score))
	// The scores are rounded, because the sums over a map are added in any
	// order.
	value := func(at int) float64 { return math.Round(score[at] * 1e9) }
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a, b)) })
	var out []memory.Memory
	for _, at := range places[:min(k, len(places))] {
		out = append(out, s.memories[at])
	}
	return out
}

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range recall.ContentWords(text) {
		out[w.Term] = true
	}
	return out
}
