package recall

import (
	"bytes"
	"cmp"
	"slices"
)

// scan adds up, for every document that holds a term of the question, a BM25
// of the document alone: the groups of most worth first, and none after the
// budget is used up (Moffat and Zobel's "continue", 1996). What it leaves out
// is scored all the same for the documents that it finds.
func (r *ranking) scan() int {
	order := make([]int, len(r.ask.groups))
	for i := range order {
		order[i] = i
	}
	worth := func(g *group) float64 { return r.weightOf(g.signal) * g.idf * g.weight }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(worth(&r.ask.groups[b]), worth(&r.ask.groups[a]))
	})
	scanned, budget := 0, maxScan
	for _, i := range order {
		g := &r.ask.groups[i]
		gain := worth(g)
		if gain <= 0 {
			continue
		}
		for _, t := range g.terms {
			l := &r.lists[t.term]
			if budget < maxScan && budget < int(l.n) {
				continue
			}
			budget -= int(l.n) // dead entries don't count, so that it is the same after a rebuild
			scanned += r.accumulate(l, float32(gain*t.weight))
		}
	}
	return scanned
}

func (r *ranking) weightOf(s signal) float64 {
	switch s {
	case sigString:
		return r.w.String
	case sigLexicon:
		return r.w.Lexicon
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
	s := r.s
	d := uint32(0) // plus 1
	n := 0
	b := l.b
	for i := 0; i < len(b); n++ {
		v, k := uvarint32(b[i:])
		i += k
		d += v >> 1
		add := gain
		if v&1 != 0 {
			c, k := uvarint32(b[i:])
			i += k
			add = gain * float32(c) * 2.2 / (float32(c) + 1.2)
		}
		m := &s.score[d-1]
		if *m == 0 {
			s.touched = append(s.touched, d-1)
		}
		*m += add
	}
	return n
}

// tie orders documents of one score: the later first, then by id.
func (r *ranking) tie(a, b uint32) int {
	x, y := &r.docs[a], &r.docs[b]
	return cmp.Or(cmp.Compare(y.at, x.at), bytes.Compare(x.id[:], y.id[:]))
}

// pool picks the n best that may be hits of what was scanned, and clears the
// scores.
func (r *ranking) pool(n int) []uint32 {
	s := r.s
	better := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.score[b], s.score[a]), r.tie(a, b))
	}
	best := make([]uint32, 0, 4*n)
	floor := float32(0)
	for _, d := range s.touched {
		if s.score[d] < floor || !r.allowed(d) {
			continue
		}
		best = append(best, d)
		if len(best) == cap(best) {
			slices.SortFunc(best, better)
			best = best[:n]
			floor = s.score[best[n-1]]
		}
	}
	slices.SortFunc(best, better)
	best = best[:min(n, len(best))]
	for _, d := range s.touched {
		s.score[d] = 0
	}
	s.touched = s.touched[:0]
	return best
}
