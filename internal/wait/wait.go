// Package wait waits for a time or for the end of a context, whichever comes
// first.
package wait

import (
	"context"
	"time"
)

// For waits for d, and reports whether ctx is still alive. If d is zero or
// less, it does not wait.
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
