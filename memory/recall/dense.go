package recall

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
)

// nearest is how many documents a Dense is asked for.
const nearest = 200

// denseAnswer is what a Dense returned for a question.
type denseAnswer struct {
	list []Similar
	past agreement // in earlier questions
}

// near calls the query's Dense.
func (x *Index) near(ctx context.Context, q *Query) ([]Similar, error) {
	near, err := within(ctx, &x.dense, q.Models.Within, func(ctx context.Context) ([]Similar, error) {
		return q.Models.Dense.Nearest(ctx, q.Text, nearest)
	})
	if err == nil {
		err = checkNumbers(near, func(s Similar) float64 { return s.Similarity })
	}
	if err != nil {
		return nil, err
	}
	return near, nil
}

// embed adds a model's similarities to the ranking. The similarities of one
// model lie close together, in a range that differs between models. Therefore
// the least of them counts 0 and the greatest 1.
func (r *ranking) embed() {
	near := r.near.list
	if len(near) == 0 {
		return
	}
	near = slices.Clone(near)
	sorting.Sort(near, func(a, b Similar) int { return cmp.Compare(b.Similarity, a.Similarity) })
	near = near[:min(len(near), nearest)]
	most, least := near[0].Similarity, near[len(near)-1].Similarity
	r.embeds = make(map[uint32]float32, len(near))
	for _, s := range near {
		d, ok := r.find(s.ID)
		if !ok {
			continue
		}
		v := float32(1)
		if most > least {
			v = float32((s.Similarity - least) / (most - least))
		}
		if _, ok := r.embeds[d]; !ok {
			r.embeds[d] = v
			r.nearby = append(r.nearby, d)
		}
	}
}

// withNearby adds to the pool the n nearest documents that may be hits.
func (r *ranking) withNearby(pool []uint32, n int) []uint32 {
	for _, d := range r.nearby[:min(n, len(r.nearby))] {
		if r.allowed(d) && !slices.Contains(pool, d) {
			pool = append(pool, d)
		}
	}
	return pool
}

// agreeOf is how many documents with the best words are examined, and agreeLeast is the least share
// of the best match that they have.
const (
	agreeOf    = 8
	agreeLeast = .5
)

// trusts returns how much the model's similarities count for this question, 0 to 1. If no document
// shares the question's words, they count in full. Otherwise they count as far as the model agreed
// with the words, here and in earlier questions. So a model that is broken, or does not know the
// language, does no harm.
func (r *ranking) trusts() float64 {
	if len(r.embeds) == 0 {
		return 0
	}
	best := r.bestMatches()
	if len(best) == 0 {
		return 1
	}
	r.agreed, r.canAgree = r.agrees(best)
	return r.near.past.with(r.agreed, r.canAgree, r.q.Text).trust()
}

// agrees returns how near the documents with the best words are for the model, and how near they
// could be, in standard deviations of a model that knows nothing. For such a model they may be
// anywhere among the nearest; for one that understands, they are at the top.
func (r *ranking) agrees(best []*candidate) (z, can float64) {
	place := make(map[uint32]int, len(r.nearby))
	for i, d := range r.nearby {
		place[d] = i
	}
	n := float64(len(r.nearby))
	all := math.Max(float64(r.alive), n)
	beyond := -n / all // for a document that the model did not return: the middle of the rest
	sum := 0.0
	for _, c := range best {
		at, ok := place[c.doc]
		if !ok {
			at, ok = place[r.anchor(c.doc)]
		}
		if ok {
			sum += 1 - (2*float64(at)+1)/all
		} else {
			sum += beyond
		}
	}
	// The variance of one document's part, if each place is equally likely.
	within := func(x float64) float64 { return x - 2*x*x + 4*x*x*x/3 } // integral of (1-2x)² from 0
	deviation := math.Sqrt((within(n/all) + (1-n/all)*beyond*beyond) / float64(len(best)))
	return sum / float64(len(best)) / deviation, (1 - 1/all) / deviation
}

// bestMatches returns the candidates that share most words with the question by themselves, without
// their context, the best first.
func (r *ranking) bestMatches() (best []*candidate) {
	alone := make(map[uint32]float32, len(r.s.list))
	most := float32(0)
	for i := range r.s.list {
		d := r.s.list[i].doc
		v := r.ownMatch(d)
		alone[d], most = v, max(most, v)
	}
	for i := range r.s.list {
		if c := &r.s.list[i]; most > 0 && alone[c.doc] >= agreeLeast*most {
			best = append(best, c)
		}
	}
	slices.SortFunc(best, func(a, b *candidate) int {
		if c := cmp.Compare(alone[b.doc], alone[a.doc]); c != 0 {
			return c
		}
		return r.tie(a.doc, b.doc)
	})
	return best[:min(len(best), agreeOf)]
}

// ownMatch is a document's match with the question's words, without its context.
func (r *ranking) ownMatch(d uint32) (sum float32) {
	length := float32(r.docs[d].length) / float32(r.mean)
	for g, n := range r.row(d) {
		if k := &r.ask.groups[g]; n != 0 && k.signal == sigMatch {
			sum += float32(k.weight*k.idf) * r.saturate(n, length)
		}
	}
	return sum
}
