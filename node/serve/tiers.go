package serve

import (
	"context"
	"fmt"
	"net/http"

	"github.com/locket-dev/locket/memory"
)

// Tierer tells which memories are on the device whole, and moves them.
type Tierer interface {
	// Tiers counts hot and cold memories.
	Tiers(ctx context.Context) (Tiers, error)
	// MoveTiers fetches, or cools down to the budget. What can't be fetched is
	// named in the answer, and no error.
	MoveTiers(ctx context.Context, r MoveRequest) (MoveAnswer, error)
}

// HotBudget is how much may be hot; 0: no limit.
type HotBudget struct {
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
}

// Tiers is the answer to GET /v1/tiers.
type Tiers struct {
	Budget         HotBudget `json:"budget"`
	Hot            int       `json:"hot"`                   // memories that are here whole
	HotBytes       int64     `json:"hot_bytes,omitempty"`   // that they take, when last weighed: with a budget in bytes
	Cold           int       `json:"cold"`                  // memories of which a stub is here
	Media          int       `json:"media"`                 // photos and recordings that are here
	MediaBytes     int64     `json:"media_bytes,omitempty"` // that they take
	ColdMedia      int       `json:"cold_media"`            // photos and recordings that lie at the relay alone
	ColdMediaBytes int64     `json:"cold_media_bytes,omitempty"`
	Packs          int       `json:"packs"` // blobs at the relay that hold them
	PackedBytes    int64     `json:"packed_bytes"`
	Wanted         int       `json:"wanted,omitempty"`  // groups of memories that something waits for
	Leaving        int       `json:"leaving,omitempty"` // packs that nothing needs, and that are at the relay still
	Fetched        int       `json:"fetched"`           // memories, since the node was opened
	Blocked        string    `json:"blocked,omitempty"` // what keeps the budget from being kept
	Missing        string    `json:"missing,omitempty"` // why cold memories can't be fetched now
}

// MoveRequest is the body of POST /v1/tiers. One of its fields is set.
type MoveRequest struct {
	Fetch []memory.ID `json:"fetch,omitempty"`
	All   bool        `json:"all,omitempty"`  // fetch everything
	Cool  bool        `json:"cool,omitempty"` // keep the budget, now
}

// MoveAnswer says what was moved, and how it is now.
type MoveAnswer struct {
	Tiers
	Back   int         `json:"back"`   // memories that were fetched
	Cooled int         `json:"cooled"` // memories that turned cold
	Left   []memory.ID `json:"left"`   // of those asked for: can't be fetched now
}

// maxFetch is how many memories one request names at most.
const maxFetch = 1000

func (h *handler) tiers(r *http.Request) (any, error) { return h.Service.Tiers(r.Context()) }

func (h *handler) moveTiers(r *http.Request) (any, error) {
	var req MoveRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	set := 0
	for _, is := range []bool{len(req.Fetch) > 0, req.All, req.Cool} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return nil, kindInvalid.problem("fetch", "fetch, all, cool: want one of them")
	case len(req.Fetch) > maxFetch:
		return nil, kindInvalid.problem("fetch", fmt.Sprintf("fetch: %d ids, at most %d", len(req.Fetch), maxFetch))
	}
	a, err := h.Service.MoveTiers(r.Context(), req)
	a.Left = notNil(a.Left)
	return a, err
}

// Tiers asks how much is hot and cold.
func (c *Client) Tiers(ctx context.Context) (v Tiers, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/tiers", nil, nil, &v)
}

// MoveTiers fetches, or cools.
func (c *Client) MoveTiers(ctx context.Context, r MoveRequest) (v MoveAnswer, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/tiers", nil, r, &v)
}
