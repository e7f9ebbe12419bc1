package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/locket-dev/locket/memory"
)

// HeadComparer compares what the relay shows two devices, by another path than
// the relay.
type HeadComparer interface {
	// Heads gives how far this device has got, signed: ErrUnsupported without a
	// relay.
	Heads(ctx context.Context) (Heads, error)
	// CompareHeads does a round of sync, and holds another device's heads to
	// what is here: memory.ErrInvalid where they are none of a device of this
	// space.
	CompareHeads(ctx context.Context, heads string) (HeadsCompared, error)
}

// Heads is the answer to GET /v1/sync/heads.
type Heads struct {
	Heads string `json:"heads"` // text, to be passed on
}

// HeadsRequest is POST /v1/sync/heads.
type HeadsRequest struct {
	Heads string `json:"heads"`
}

// HeadsCompared is the answer to it.
type HeadsCompared struct {
	Member      memory.MemberID   `json:"member"` // whose they are
	At          time.Time         `json:"at"`     // by its clock
	Same        bool              `json:"same"`   // one history, as far as both go
	Differences []HeadsDifference `json:"differences"`
}

// HeadsDifference is one chain, or the log, that differs.
type HeadsDifference struct {
	Verdict string          `json:"verdict"`         // forked, hidden, behind, untold
	Member  memory.MemberID `json:"member,omitzero"` // zero: the log
	Seq     uint64          `json:"seq"`             // there
	Here    uint64          `json:"here"`
	Text    string          `json:"text"`
}

func (h *handler) heads(r *http.Request) (any, error) { return h.Service.Heads(r.Context()) }

func (h *handler) compareHeads(r *http.Request) (any, error) {
	var req HeadsRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	return h.Service.CompareHeads(r.Context(), req.Heads)
}

// Heads gives this device's.
func (c *Client) Heads(ctx context.Context) (v Heads, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/sync/heads", nil, nil, &v)
}

// CompareHeads compares another device's.
func (c *Client) CompareHeads(ctx context.Context, heads string) (v HeadsCompared, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/sync/heads", nil, HeadsRequest{heads}, &v)
}
