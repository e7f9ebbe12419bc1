package result

import (
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine/sight"
)

// A series ends at a pause or at its twentieth different photo, by the hashes that the node
// measured; without hashes each photo counts.
func TestSeriesAreCut(t *testing.T) {
	at := time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	photos := func(n int, hash func(int) string, after func(int) time.Duration) (out []Shot) {
		for i := range n {
			out = append(out, Shot{at.Add(after(i)), hash(i)})
		}
		return out
	}
	none := func(int) string { return "" }
	seconds := func(i int) time.Duration { return time.Duration(i) * time.Second }
	full := time.Time{}
	for name, c := range map[string]struct {
		of   []Shot
		n    int
		over time.Time
	}{
		"no photo":     {nil, 0, full},
		"few":          {photos(3, none, seconds), 3, at.Add(2*time.Second + seriesPause)},
		"twenty":       {photos(25, none, seconds), sight.MaxFrames, full},
		"a pause":      {photos(3, none, func(i int) time.Duration { return time.Duration(i/2) * seriesPause }), 2, at.Add(seriesPause)},
		"one scene":    {photos(100, func(int) string { return "00ff00ff00ff00ff" }, seconds), maxLooks, full},
		"some are one": {photos(30, func(i int) string { return fmt.Sprintf("%016x", uint64(0x9e3779b97f4a7c15)*uint64(i/2+1)) }, seconds), 30, at.Add(29*time.Second + seriesPause)},
	} {
		if n, over := Series(c.of); n != c.n || !over.Equal(c.over) {
			t.Errorf("%s: %d, %v", name, n, over)
		}
	}
}
