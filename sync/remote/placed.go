package remote

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/locket-dev/locket/sync/remote/page"
)

// Placed returns the deltas after a cursor in their wire forms, at most
// limit. It checks nothing, so some may be invalid or of another space. It is
// for callers that check each delta themselves.
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
