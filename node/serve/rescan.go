package serve

import (
	"context"
	"net/http"

	"github.com/locket-dev/locket/memory"
)

// Rescanner tries again what was set aside unread.
type Rescanner interface {
	// Rescan takes the texts that were set aside, since a plugin that takes
	// words away failed on them, through the plugins as they are now. Each
	// counts once: what goes through is set aside no more. ErrConflict while
	// such a plugin is disabled after faults.
	Rescan(ctx context.Context) (Rescanned, error)
}

// Rescanned is what came of it.
type Rescanned struct {
	Texts   int             `json:"texts"` // that were set aside
	Left    int             `json:"left"`  // of these: a plugin failed again, and they are set aside still
	Changes []memory.Change `json:"changes"`
}

func (h *handler) rescan(r *http.Request) (any, error) {
	done, err := h.Service.Rescan(r.Context())
	done.Changes = notNil(done.Changes)
	return done, err
}

// Rescan tries again what was set aside unread.
func (c *Client) Rescan(ctx context.Context) (v Rescanned, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/refusals/retry", nil, nil, &v)
}
