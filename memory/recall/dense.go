package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
)

// nearest is how many documents a Dense is asked for.
const nearest = 200

// near asks the query's Dense.
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
func (r *ranking) embed(near []Similar) {
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

// withNearby adds to the pool the n nearest that may be hits.
func (r *ranking) withNearby(pool []uint32, n int) []uint32 {
	for _, d := range r.nearby[:min(n, len(r.nearby))] {
		if r.allowed(d) && !slices.Contains(pool, d) {
			pool = append(pool, d)
		}
	}
	return pool
}
