package serve

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Historian reads memories as of another time. asOf asks what was so, out in
// the world; knownAt what was believed. Zero is now.
type Historian interface {
	// GetAt gives a memory as it was believed at knownAt. Where it did not
	// hold at asOf, it gives what held in its place: asked for the home of
	// today as of last year, the home of last year. memory.ErrNotFound where
	// nothing was known, or was so.
	GetAt(ctx context.Context, id memory.ID, asOf, knownAt time.Time) (memory.Memory, error)
}

func (h *handler) get(ctx context.Context, id memory.ID, r *http.Request) (any, error) {
	p := readParams(r)
	asOf, knownAt := p.time("as_of"), p.time("known_at")
	if p.err != nil {
		return nil, p.err
	}
	if asOf.IsZero() && knownAt.IsZero() {
		return bareOne(h.Service.Get(ctx, id))
	}
	return bareOne(h.Service.GetAt(ctx, id, asOf, knownAt))
}

// GetAt gives a memory as of another time; id may be abbreviated.
func (c *Client) GetAt(ctx context.Context, id string, asOf, knownAt time.Time) (v memory.Memory, err error) {
	return v, c.call(ctx, http.MethodGet, memoryPath(id, ""), timesOf(asOf, knownAt), nil, &v)
}

// timesOf gives the parameters for another time.
func timesOf(asOf, knownAt time.Time) url.Values {
	v := url.Values{}
	if !asOf.IsZero() {
		v.Set("as_of", asOf.Format(time.RFC3339Nano))
	}
	if !knownAt.IsZero() {
		v.Set("known_at", knownAt.Format(time.RFC3339Nano))
	}
	return v
}
