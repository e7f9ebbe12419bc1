package recall

import (
	"math/rand/v2"
	"testing"

	"github.com/locket-dev/locket/internal/testing/mangle"
)

// A question may be any text.
func TestMangledQuestions(t *testing.T) {
	x := days(t)
	lines := mangle.Lines(t, "testdata/zh.txt", "testdata/across.txt", "testdata/friends-1.txt", "testdata/friends-2.txt")
	mangle.Each(t, 3000, lines, func(r *rand.Rand, line string) {
		q := Query{Text: line, Now: june, Wearer: "Ana", K: 1 + r.IntN(30)}
		if got := find(t, x, q); len(got.Hits) > q.K || got.Confidence < 0 || got.Confidence > 1 {
			t.Errorf("%q: %d hits, confidence %v", line, len(got.Hits), got.Confidence)
		}
	})
}
