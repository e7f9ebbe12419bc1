package node

import "context"

// turns lets one in at a time; who waits may give up. The others wait on.
type turns chan struct{}

func newTurns() turns { return make(turns, 1) }

// take waits until it is the caller's turn, which then calls end.
func (t turns) take(ctx context.Context) (end func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
