package recall

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// scan adds up a score for every document that has a term of the question: BM25 with k1 = 1.2 and
// without the length. It takes the lists of the groups with the greatest worth first. A list that is
// longer than what is left of the budget of entries is left out; a list counts for each group that
// has it. Documents that it finds get their full score later, also by the lists that were left out.
func (r *ranking) scan() int {
	order := make([]int, len(r.ask.groups))
	for i := range order {
		order[i] = i
	}
	worth := func(g *group) float64 { return r.weightOf(g.signal) * g.idf * g.weight }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(worth(&r.ask.groups[b]), worth(&r.ask.groups[a]))
	})
	r.whole = true
	budget := maxScan
	var gains []weighted // by term: a word may be in several groups, and its list is read once
	for _, i := range order {
		g := &r.ask.groups[i]
		gain := worth(g)
		if gain <= 0 {
			r.whole = false
			continue
		}
		for _, t := range g.terms {
			n := int(r.lists[t.term].n) // dead entries don't count, so that the result is the same after a rebuild
			if budget < maxScan && budget < n {
				r.whole = false
				continue
			}
			budget -= n
			at := &r.s.slots[t.term]
			if *at == 0 {
				gains = append(gains, weighted{t.term, 0})
				*at = uint32(len(gains))
			}
			gains[*at-1].weight += gain * t.weight
		}
	}
	scanned := 0
	for _, t := range gains {
		r.s.slots[t.term] = 0
		scanned += r.accumulate(&r.lists[t.term], float32(t.weight))
	}
	return scanned
}

func (r *ranking) weightOf(s signal) float64 {
	switch s {
	case sigString:
		return r.w.String
	case sigLexicon:
		return r.w.Lexicon
	case sigNumber:
		return 0
	case sigCode:
		return r.w.Exact
	case sigTime:
		return r.timeWeight()
	case sigEntity:
		return r.w.Entity
	case sigGraph:
		return r.graphWeight()
	}
	return 1
}

func (r *ranking) accumulate(l *list, gain float32) int {
	score := r.s.score
	k := len(r.s.touched)
	touched := slices.Grow(r.s.touched, min(len(l.b), len(score)-k+1))
	touched = touched[:cap(touched)]
	d := uint32(0) // the number of the document, plus 1
	n := 0
	b := l.b
	for i := 0; i < len(b); n++ {
		var v, c uint32
		v, i = varintAt(b, i)
		d += v >> 1
		add := gain
		if v&1 != 0 {
			c, i = varintAt(b, i)
			add = gain * float32(c) * 2.2 / (float32(c) + 1.2)
		}
		m := &score[d-1]
		touched[k] = d - 1 // always written; k advances if the score was zero. A branch would be mispredicted too often.
		k += int((uint64(math.Float32bits(*m)) - 1) >> 63)
		*m += add
	}
	r.s.touched = touched[:k]
	return n
}

// tie orders documents of equal score: the later document first, then by id.
func (r *ranking) tie(a, b uint32) int {
	x, y := &r.docs[a], &r.docs[b]
	if c := cmp.Compare(y.at, x.at); c != 0 {
		return c
	}
	return bytes.Compare(x.id[:], y.id[:])
}

// pool returns the n best documents that may be hits.
func (r *ranking) pool(n int) []uint32 {
	if r.q.Allow == nil {
		return r.top(n)
	}
	return r.topAllowed(n)
}

// scored is a score of at least 0 and a number, as one number: the smaller, the better.
func scored(score float32, n uint32) uint64 { return uint64(^math.Float32bits(score))<<32 | uint64(n) }

// sortScored sorts scored numbers, the best first. tie orders those with equal scores.
func sortScored(s []uint64, tie func(a, b uint32) int) {
	slices.Sort(s) // several times as fast as with a function
	for i := 0; i < len(s); {
		j := i + 1
		for j < len(s) && s[j]>>32 == s[i]>>32 {
			j++
		}
		if j > i+1 {
			slices.SortFunc(s[i:j], func(a, b uint64) int { return tie(uint32(a), uint32(b)) })
		}
		i = j
	}
}

// top returns the n best of the scanned documents that fit, the best first.
func (r *ranking) top(n int) []uint32 {
	s := r.s
	best := make([]uint64, 0, 4*n)
	floor := float32(0)
	for _, d := range s.touched {
		if s.score[d] < floor || !r.fits(d) {
			continue
		}
		best = append(best, scored(s.score[d], d))
		if len(best) == cap(best) {
			sortScored(best, r.tie)
			best = best[:n]
			floor = s.score[uint32(best[n-1])]
		}
	}
	sortScored(best, r.tie)
	docs := make([]uint32, min(n, len(best)))
	for i := range docs {
		docs[i] = uint32(best[i])
	}
	return docs
}

// topAllowed returns the n best of the scanned documents that the query allows,
// the best first. Allow may have to read the document, so this asks it in the order
// of the scores, for few documents more than are needed. It may ask twice about
// the same document.
func (r *ranking) topAllowed(n int) (best []uint32) {
	first := r.top(2 * n) // mostly enough, and quickly found
	for _, d := range first {
		if r.q.Allow(r.about(d)) {
			if best = append(best, d); len(best) == n {
				return best
			}
		}
	}
	if len(first) < 2*n { // there are no more documents
		return best
	}
	best = nil
	heap := make([]uint32, 0, len(r.s.touched)) // the best is first
	for _, d := range r.s.touched {
		if r.fits(d) {
			heap = append(heap, d)
		}
	}
	better := func(a, b uint32) int {
		if c := cmp.Compare(r.s.score[b], r.s.score[a]); c != 0 {
			return c
		}
		return r.tie(a, b)
	}
	down := func(i int) {
		for c := 2*i + 1; c < len(heap); i, c = c, 2*c+1 {
			if c+1 < len(heap) && better(heap[c+1], heap[c]) < 0 {
				c++
			}
			if better(heap[i], heap[c]) <= 0 {
				return
			}
			heap[i], heap[c] = heap[c], heap[i]
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	for len(heap) > 0 && len(best) < n && (r.asking == nil || len(r.asking.open) < r.asking.most) {
		if r.q.Allow(r.about(heap[0])) {
			best = append(best, heap[0])
		}
		last := len(heap) - 1
		heap[0] = heap[last]
		heap = heap[:last]
		down(0)
	}
	return best
}
