package serve

import (
	"context"
	"maps"
	"net/http"
	"slices"
)

// Tallier tells how much of what was heard is remembered.
type Tallier interface {
	// Tally counts since the home was made, on this node.
	Tally(ctx context.Context) (Tally, error)
}

// Tally says what became of what was heard.
type Tally struct {
	Taken   uint64    `json:"taken"`   // statements that became a memory, or evidence for one
	Refused []Refused `json:"refused"` // the most frequent kind first
}

// Refused is one reason for which statements were refused.
type Refused struct {
	Kind  string  `json:"kind"`
	Count uint64  `json:"count"`
	Share float64 `json:"share"` // of all that was taken or refused, 0 to 1
}

// NewTally works out the shares.
func NewTally(taken uint64, refused map[string]uint64) Tally {
	t := Tally{Taken: taken, Refused: []Refused{}}
	all := taken
	for _, n := range refused {
		all += n
	}
	for _, kind := range slices.Sorted(maps.Keys(refused)) {
		t.Refused = append(t.Refused, Refused{Kind: kind, Count: refused[kind], Share: float64(refused[kind]) / float64(max(all, 1))})
	}
	slices.SortStableFunc(t.Refused, func(a, b Refused) int { return int(min(b.Count, 1<<40)) - int(min(a.Count, 1<<40)) })
	return t
}

func (h *handler) tally(r *http.Request) (any, error) { return h.Service.Tally(r.Context()) }

// Tally tells how much of what was heard is remembered.
func (c *Client) Tally(ctx context.Context) (v Tally, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/refusals/tally", nil, nil, &v)
}
