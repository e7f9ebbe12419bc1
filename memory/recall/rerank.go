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
// counts 0 and the greatest 1. counts is false if the hits stay as they were, because it failed,
// sees no difference, or does not agree with the scores.
func (x *Index) rerank(ctx context.Context, q *Query, w *Weights, out *Result) (counts bool, err error) {
	n := min(len(out.Hits), cmp.Or(q.Models.First, DefaultFirst))
	if n < 2 {
		return false, nil
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
		return false, err
	}
	if len(got.scores) != n {
		return false, fmt.Errorf("recall: a reranker gave %d numbers for %d texts", len(got.scores), n)
	}
	if err := checkNumbers(got.scores, func(f float64) float64 { return f }); err != nil {
		return false, err
	}
	least, most := math.Inf(1), math.Inf(-1)
	for i, t := range got.texts {
		if t != "" {
			least, most = min(least, got.scores[i]), max(most, got.scores[i])
		}
	}
	if most <= least { // it sees no difference
		return false, nil
	}
	weight := w.Rerank * x.agreesWith(first, got.texts, got.scores, q.Text).trust()
	if weight == 0 {
		return false, nil
	}
	scale := out.most / (out.most + weight)
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
		v := sixth(weight * (got.scores[i] - least) / (most - least) / (out.most + weight))
		h.Score = sixth(h.Score + v)
		h.Parts = append(h.Parts, Part{PartRerank, v})
	}
	sorting.Stable(out.Hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	for i := range out.Hits { // the reranker has read the texts, so words don't count here
		out.Hits[i].Minor = out.Hits[i].Score < minorScore*out.Hits[0].Score
	}
	return true, nil
}

// agreesWith adds how much a reranker agrees with a question: the correlation of its scores with
// those of the hits, which come from the words and from the Dense. For a reranker that knows
// nothing, the standard deviation of a correlation is one divided by the root of the number of
// texts less one.
func (x *Index) agreesWith(hits []Hit, texts []string, scores []float64, question string) agreement {
	var n, a, b, aa, bb, ab float64
	for i, h := range hits {
		if texts[i] != "" {
			v, w := h.Score, scores[i]
			n, a, b, aa, bb, ab = n+1, a+v, b+w, aa+v*v, bb+w*w, ab+v*w
		}
	}
	spread, can := math.Sqrt((aa-a*a/n)*(bb-b*b/n)), math.Sqrt(n-1)
	if !(spread > 0) { // the hits are alike without it
		spread, can = 1, 0
	}
	return x.judge.agree((ab-a*b/n)/spread*can, can, question)
}
