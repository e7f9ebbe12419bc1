// Package progress carries the progress of long work from where it is done to where it is shown. It
// travels in the context, so that functions in between need no argument for it. It does not pass
// from one process to another.
package progress

import (
	"context"
	"sync/atomic"
)

// Gauge counts pieces of work, in a unit that its creator chooses. Its fields may be used
// concurrently.
type Gauge struct {
	Done  atomic.Int64
	Total atomic.Int64 // 0: not known
}

type key struct{}

// With returns a context whose work is counted by g.
func With(ctx context.Context, g *Gauge) context.Context { return context.WithValue(ctx, key{}, g) }

// Of returns the gauge of a context. If there is none, it returns one that nobody reads.
func Of(ctx context.Context) *Gauge {
	if g, ok := ctx.Value(key{}).(*Gauge); ok {
		return g
	}
	return new(Gauge)
}
