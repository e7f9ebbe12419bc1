package serve

import (
	"context"
	"net/http"
	"time"
)

// Retainer tells what retention ends.
type Retainer interface {
	// Retention gives the rules, and what would go if they were applied now.
	Retention(ctx context.Context) (RetentionAnswer, error)
}

// RetentionAnswer is the answer to GET /v1/retention.
type RetentionAnswer struct {
	Clock      time.Time `json:"clock,omitzero"` // of events, by which ages count; zero: there was none
	Rules      []string  `json:"rules"`          // of the configuration, in order
	Memories   []Ending  `json:"memories"`       // oldest first
	Utterances []Ending  `json:"utterances"`
}

// Ending is what has been kept for long enough, and by which rule.
type Ending struct {
	Related
	Why string `json:"why"`
}

func (h *handler) retention(r *http.Request) (any, error) {
	a, err := h.Service.Retention(r.Context())
	a.Rules, a.Memories, a.Utterances = notNil(a.Rules), notNil(a.Memories), notNil(a.Utterances)
	return a, err
}

// Retention asks what retention would end now.
func (c *Client) Retention(ctx context.Context) (v RetentionAnswer, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/retention", nil, nil, &v)
}
