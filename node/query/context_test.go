package query

import (
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

func TestUsefulHits(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   int
	}{
		{nil, 0}, {[]float64{.9}, 1}, {[]float64{.9, .1, .1}, 3}, {[]float64{.9, .1, .1, .1}, 3},
		{[]float64{.8, .7, .6, .45, .441, .43, .42}, 5}, {[]float64{.8, .8, .8, .8}, 4}, {[]float64{0, 0, 0, 0}, 4},
	} {
		hits := make([]serve.Hit, len(c.scores))
		for i, s := range c.scores {
			hits[i].Score = s
		}
		if got := useful(hits); got != c.want {
			t.Errorf("%v: %d, want %d", c.scores, got, c.want)
		}
	}
}
