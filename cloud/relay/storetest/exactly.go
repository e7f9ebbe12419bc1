package storetest

import (
	"context"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// ExactStore returns a store whose Append calls s's AppendExact with the present
// head of the log, as a relay does. s must be a [relay.ExactAppender].
func ExactStore(s relay.Store) relay.Store { return exactly{s, s.(relay.ExactAppender)} }

type exactly struct {
	relay.Store
	exact relay.ExactAppender
}

func (e exactly) Append(ctx context.Context, space memory.SpaceID, logN uint64, deltas []*envelope.Delta, quota relay.Quota, now time.Time) ([]uint64, error) {
	head, err := e.Space(ctx, space)
	if err != nil {
		return nil, err
	}
	return e.exact.AppendExact(ctx, space, logN, head.LogHead, deltas, quota, now)
}
