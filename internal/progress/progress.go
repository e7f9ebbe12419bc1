// Package progress carries how far long work is from where it is done to whom it is shown.
// It goes with the context, so that what stands between needs no argument for it. It does not
// pass from one process to another.
package progress

import (
	"context"
	"sync/atomic"
)

// Gauge counts pieces of work in the unit of whoever made it. Its fields may be used at the
// same time.
type Gauge struct {
	Done  atomic.Int64
	Total atomic.Int64 // 0: not known
}

type key struct{}

// With returns a context whose work is counted by g.
func With(ctx context.Context, g *Gauge) context.Context { return context.WithValue(ctx, key{}, g) }

// Of returns the gauge of a context. If it has none, nobody looks at the one returned.
func Of(ctx context.Context) *Gauge {
	if g, ok := ctx.Value(key{}).(*Gauge); ok {
		return g
	}
	return new(Gauge)
}
