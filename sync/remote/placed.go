package remote

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/locket-dev/locket/sync/remote/page"
)

// Placed returns the deltas after a cursor in their wire forms, at most
// limit. It checks nothing, so some may be invalid or of another space. It is
// for callers that check each delta themselves.
func (s *Space) Placed(ctx context.Context, after uint64, limit int) ([]page.Placed, error) {
	return s.placed(ctx, after, limit, 0)
}

// placed is Placed. If there are none, it waits up to wait, in whole seconds.
func (s *Space) placed(ctx context.Context, after uint64, limit int, wait time.Duration) ([]page.Placed, error) {
	q := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(min(max(limit, 1), page.MaxDeltas))}}
	if wait > 0 {
		q.Set("wait", strconv.Itoa(int(wait/time.Second)))
	}
	a, err := s.do(ctx, call{method: "GET", path: s.path("/deltas"), query: q, limit: page.MaxAnswer, wait: wait})
	if err != nil {
		return nil, err
	}
	return decoded(a, "pull deltas", func(b []byte) ([]page.Placed, error) { return page.DecodePlaced(b, after) })
}
