// Package wait waits for a time or the end of a context, whichever is first.
package wait

import (
	"context"
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
