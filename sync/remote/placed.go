package remote

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/locket-dev/locket/sync/remote/page"
)

// Placed gives deltas after a cursor as they came, for a caller that looks at
// each by itself: one that is no delta, or of another space, is among them.
func (s *Space) Placed(ctx context.Context, after uint64, limit int) ([]page.Placed, error) {
	q := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(min(max(limit, 1), page.MaxDeltas))}}
	a, err := s.do(ctx, call{method: "GET", path: s.path("/deltas"), query: q, limit: page.MaxAnswer})
	if err != nil {
		return nil, err
	}
	placed, err := page.DecodePlaced(a.body, after)
	if err != nil {
		return nil, fmt.Errorf("pull deltas: %w: %v", ErrAnswer, err)
	}
	return placed, nil
}
