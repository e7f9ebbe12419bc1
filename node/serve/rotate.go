package serve

import (
	"context"
	"net/http"
)

// Rotator ends the epoch of the wearer's space by hand.
type Rotator interface {
	// Rotate begins an epoch with a key that only those who belong now get:
	// ErrUnsupported without a relay, ErrConflict for one who is no owner.
	Rotate(ctx context.Context) (Rotated, error)
}

// Rotated is the answer to POST /v1/epochs.
type Rotated struct {
	Epoch uint64 `json:"epoch"` // the one that has begun
}

func (h *handler) rotate(r *http.Request) (any, error) { return h.Service.Rotate(r.Context()) }

// Rotate begins an epoch.
func (c *Client) Rotate(ctx context.Context) (v Rotated, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/epochs", nil, nil, &v)
}
