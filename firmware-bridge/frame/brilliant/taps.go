package brilliant

import "time"

// Values from frame_msg's rx/tap.dart.
const (
	bounce = 40 * time.Millisecond  // a touch so soon after another is the same one
	group  = 300 * time.Millisecond // touches closer than this belong together
)

// Taps counts touches of Frame, which does not count them itself. The zero value is ready.
type Taps struct {
	n    int
	last time.Time
}

// Add takes a touch.
func (t *Taps) Add(at time.Time) {
	if t.n > 0 && at.Sub(t.last) < bounce {
		return
	}
	t.n, t.last = t.n+1, at
}

// Take returns the number of touches once no more can belong to them, or if the connection is over;
// otherwise 0.
func (t *Taps) Take(now time.Time, over bool) int {
	if t.n == 0 || !over && now.Sub(t.last) < group {
		return 0
	}
	n := t.n
	t.n = 0
	return n
}
