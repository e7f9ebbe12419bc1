package serve

import (
	"context"
	"net/http"

	"github.com/locket-dev/locket/memory"
)

// Fetcher brings the bytes of photos and recordings to this device, where
// another one of the wearer's has sent them.
type Fetcher interface {
	// Fetch brings those of one memory; that they are here already is no error.
	// memory.ErrNotFound where nobody has sent them, ErrUnsupported without a
	// relay.
	Fetch(ctx context.Context, id memory.ID) (Fetched, error)
}

// Fetched is a photo or a recording that is on this device.
type Fetched struct {
	ID   memory.ID `json:"id"`
	Blob memory.ID `json:"blob"`
	Size int64     `json:"size"`          // bytes
	New  bool      `json:"new,omitempty"` // it came just now
}

func (h *handler) fetch(ctx context.Context, id memory.ID, _ *http.Request) (any, error) {
	return h.Service.Fetch(ctx, id)
}

// Fetch brings the bytes of a memory's photo or recording to the node.
func (c *Client) Fetch(ctx context.Context, id string) (v Fetched, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/memories/"+id+"/fetch", nil, nil, &v)
}
