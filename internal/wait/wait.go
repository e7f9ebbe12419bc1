// Package wait waits for a time or the end of a context, whichever is first, and
// says how long to wait after failures.
package wait

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d, and reports whether ctx is still alive. A d of zero or less
// does not wait.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// Pace is how long to wait after one failure after another: First, then twice as
// long each time up to Most, with as much as half of it off by chance, so that
// many who failed at once do not come back at once. Not safe for concurrent use.
type Pace struct {
	First, Most time.Duration
	rest        time.Duration
}

// Next gives the next wait: more than half of what it is at most.
func (p *Pace) Next() time.Duration {
	if p.rest == 0 {
		p.rest = p.First
	}
	d := p.rest - rand.N(p.rest/2)
	p.rest = min(2*p.rest, p.Most)
	return d
}

// Reset is for after a success: the next wait is the first again.
func (p *Pace) Reset() { p.rest = 0 }
