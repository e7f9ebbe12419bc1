package serve

import (
	"context"
	"net/http"
	"net/url"

	"github.com/locket-dev/locket/node/zones"
)

// Zoner keeps the wearer's private zones, in which nothing is taken in. A
// locked node has them too.
type Zoner interface {
	Zones(ctx context.Context) ([]zones.Zone, error)
	// AddZone gives the zone as it was read: ErrConflict for a name that is
	// there.
	AddZone(ctx context.Context, z zones.Zone) (zones.Zone, error)
	RemoveZone(ctx context.Context, name string) error
}

// ZonesAnswer is the answer to GET /v1/zones.
type ZonesAnswer struct {
	Zones []zones.Zone `json:"zones"`
}

// RemovedZone is the answer to DELETE /v1/zones/{name}.
type RemovedZone struct {
	Name string `json:"name"`
}

// PrivateStatus tells of private zones.
type PrivateStatus struct {
	Zones   int               `json:"zones"`
	Active  []string          `json:"active"`  // names of those in which the wearer is now
	Dropped map[string]uint64 `json:"dropped"` // events since the start, by reason: paused, private time, private place
}

func (h *handler) zones(r *http.Request) (any, error) {
	list, err := h.Service.Zones(r.Context())
	return ZonesAnswer{notNil(list)}, err
}

func (h *handler) addZone(w http.ResponseWriter, r *http.Request) error {
	var z zones.Zone
	if err := decodeBody(r, &z, false); err != nil {
		return err
	}
	made, err := h.Service.AddZone(r.Context(), z)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, "application/json", made)
	return nil
}

func (h *handler) removeZone(r *http.Request) (any, error) {
	name := r.PathValue("name")
	return RemovedZone{name}, h.Service.RemoveZone(r.Context(), name)
}

// Zones lists the private zones.
func (c *Client) Zones(ctx context.Context) (v ZonesAnswer, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/zones", nil, nil, &v)
}

// AddZone makes one.
func (c *Client) AddZone(ctx context.Context, z zones.Zone) (v zones.Zone, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/zones", nil, z, &v)
}

// RemoveZone ends one.
func (c *Client) RemoveZone(ctx context.Context, name string) (v RemovedZone, err error) {
	return v, c.call(ctx, http.MethodDelete, "/v1/zones/"+url.PathEscape(name), nil, nil, &v)
}
