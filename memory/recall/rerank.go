package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
)

// rerank lets the query's Reranker judge the first hits, and sorts them again.
// Its answer is one part of the score among others: the least of its numbers
// counts 0 and the greatest 1. If it fails, the result stays as it was.
func (x *Index) rerank(ctx context.Context, q *Query, w *Weights, out *Result) error {
	n := min(len(out.Hits), cmp.Or(q.Models.First, DefaultFirst))
	if n < 2 {
		return nil
	}
	first := out.Hits[:n:n]
	type judged struct {
		texts  []string
		scores []float64
	}
	got, err := within(ctx, &x.judge, q.Models.Within, func(ctx context.Context) (judged, error) {
		texts, err := q.Models.Texts(ctx, slices.Clone(first))
		if err != nil {
			return judged{}, err
		}
		if len(texts) != n {
			return judged{}, fmt.Errorf("recall: %d texts for %d hits", len(texts), n)
		}
		scores, err := q.Models.Reranker.Rerank(ctx, q.Text, slices.Clone(texts))
		return judged{texts, scores}, err
	})
	if err != nil {
		return err
	}
	if len(got.scores) != n {
		return fmt.Errorf("recall: a reranker gave %d numbers for %d texts", len(got.scores), n)
	}
	if err := checkNumbers(got.scores, func(f float64) float64 { return f }); err != nil {
		return err
	}
	least, most := math.Inf(1), math.Inf(-1)
	for i, t := range got.texts {
		if t != "" {
			least, most = min(least, got.scores[i]), max(most, got.scores[i])
		}
	}
	if most <= least { // it sees no difference
		return nil
	}
	scale := out.most / (out.most + w.Rerank)
	for i := range out.Hits {
		h := &out.Hits[i]
		h.Score = sixth(h.Score * scale)
		for j := range h.Parts {
			h.Parts[j].Value = sixth(h.Parts[j].Value * scale)
		}
		addUp(h.Parts, h.Score)
		if i >= n || got.texts[i] == "" || got.scores[i] <= least {
			continue
		}
		v := sixth(w.Rerank * (got.scores[i] - least) / (most - least) / (out.most + w.Rerank))
		h.Score = sixth(h.Score + v)
		h.Parts = append(h.Parts, Part{PartRerank, v})
	}
	sorting.Stable(out.Hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	for i := range out.Hits { // the reranker has read the texts, so words don't count here
		out.Hits[i].Minor = out.Hits[i].Score < minorScore*out.Hits[0].Score
	}
	return nil
}
