package memtrim

import (
	"testing"
	"time"
)

// It waits for a quiet moment, but not for ever, and does nothing if it is not worth it.
func TestReleaseIsDue(t *testing.T) {
	const mb = 1 << 20
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := Keeper{Every: 10 * time.Second}
	all := uint64(0)
	for i, step := range []struct {
		after  time.Duration
		allocs uint64
		want   what
		why    string
	}{
		{0, 30 * mb, nothing, "it works"},
		{500 * time.Millisecond, 0, nothing, "the start is the first release it counts from"},
		{10 * time.Second, 0, everything, "quiet after work"},
		{500 * time.Millisecond, 0, nothing, "nothing since"},
		{20 * time.Second, mb / 8, pages, "next to nothing since"},
		{time.Second, 20 * mb, nothing, "it works"},
		{500 * time.Millisecond, 0, nothing, "quiet, and not long enough ago"},
		{10 * time.Second, 0, everything, "quiet, and long enough ago"},
		{30 * time.Second, 20 * mb, nothing, "it works"},
		{30 * time.Second, 20 * mb, everything, "it works on and on"},
	} {
		start = start.Add(step.after)
		if i == 0 {
			k.released = start
		}
		all += step.allocs
		got := k.due(all, start)
		if k.calm != (step.allocs < quiet) {
			t.Errorf("step %d (%s): calm %v", i, step.why, k.calm)
		}
		if got != step.want {
			t.Errorf("step %d (%s): %v", i, step.why, got)
		}
		if got == everything {
			k.then = all
		}
	}
}

// Allocations are counted.
func TestAllocated(t *testing.T) {
	before := allocated()
	keep = make([]byte, 8<<20)
	if n := allocated() - before; n < 8<<20 {
		t.Errorf("%d bytes", n)
	}
}

var keep []byte
