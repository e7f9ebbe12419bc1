package replica

import (
	"testing"
	"time"
)

// What comes after a silence goes at once; what follows goes together, and no
// later than the linger after what went before.
func TestGathering(t *testing.T) {
	g := gathering{linger: 300 * time.Millisecond}
	start := time.Unix(1_790_000_000, 0)
	for i, c := range []struct{ at, wait time.Duration }{
		{0, 0},
		{100 * time.Millisecond, 200 * time.Millisecond}, // goes at 300
		{310 * time.Millisecond, 290 * time.Millisecond}, // goes at 600
		{time.Hour, 0},
		{time.Hour - 10*time.Minute, 300 * time.Millisecond}, // the clock was put back
	} {
		if got := g.wait(start.Add(c.at)); got != c.wait {
			t.Errorf("%d: waits %v, want %v", i, got, c.wait)
		}
	}
}
