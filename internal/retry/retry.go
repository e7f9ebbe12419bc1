// Package retry computes how long to wait before the next try after failures,
// and waits.
package retry

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/locket-dev/locket/internal/wait"
)

// Backoff is the delay of one loop that tries again: First, then twice as long
// after each further failure, up to Most. Each wait is shortened by up to half
// at random, so that clients that failed at the same time do not come back at
// the same time. First and Most must be greater than 0. A Backoff is not safe
// for concurrent use.
type Backoff struct {
	First, Most time.Duration
	next        time.Duration // before the random part; 0: First
}

// Next returns the next wait, which is more than half of its greatest value.
func (b *Backoff) Next() time.Duration {
	if b.next == 0 {
		b.next = min(b.First, b.Most)
	}
	d := b.next - rand.N(max(b.next/2, 1))
	b.next = min(2*b.next, b.Most)
	return d
}

// Wait waits, and reports whether ctx is still alive.
func (b *Backoff) Wait(ctx context.Context) bool { return wait.For(ctx, b.Next()) }

// Reset is called after a success: the next wait is the first again.
func (b *Backoff) Reset() { b.next = 0 }

// After returns the wait after a number of failures, 1 or more, for callers
// that only store this number.
func After(failures int, first, most time.Duration) time.Duration {
	d := first
	for ; failures > 1 && d < most; failures-- {
		d *= 2
	}
	return (&Backoff{First: d, Most: most}).Next()
}
