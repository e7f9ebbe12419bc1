// Package retry says how long to wait before the next try after failures, and
// waits for it.
package retry

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/locket-dev/locket/internal/wait"
)

// Backoff is the pace of one loop that tries again: First, then twice as long
// after each further failure, up to Most. By chance up to half of each wait is
// left off, so that many who failed at once do not come back at once. First and
// Most are above 0. A Backoff is not safe for concurrent use.
type Backoff struct {
	First, Most time.Duration
	next        time.Duration // before chance; 0: First
}

// Next returns the next wait: more than half of what it is at most.
func (b *Backoff) Next() time.Duration {
	if b.next == 0 {
		b.next = min(b.First, b.Most)
	}
	d := b.next - rand.N(max(b.next/2, 1))
	b.next = min(2*b.next, b.Most)
	return d
}

// Wait waits for the next wait, and reports whether ctx is still alive.
func (b *Backoff) Wait(ctx context.Context) bool { return wait.For(ctx, b.Next()) }

// Reset is for after a success: the next wait is the first again.
func (b *Backoff) Reset() { b.next = 0 }

// After is the wait after so many failures, 1 or more, for who keeps their
// number alone.
func After(failures int, first, most time.Duration) time.Duration {
	d := first
	for ; failures > 1 && d < most; failures-- {
		d *= 2
	}
	return (&Backoff{First: d, Most: most}).Next()
}
