package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/zones"
)

// Intake pauses and resumes the taking of events.
type Intake interface {
	// Pause stops intake until a time; zero: until Resume. Events that arrive
	// meanwhile are acknowledged, dropped and counted.
	Pause(ctx context.Context, until time.Time) (PauseState, error)
	// Resume returns nil also if the node is not paused.
	Resume(ctx context.Context) (PauseState, error)
}

// Zoner manages the wearer's private zones, in which no events are taken. A
// locked node obeys them, too.
type Zoner interface {
	Zones(ctx context.Context) ([]zones.Zone, error)
	// AddZone returns the zone as it was parsed, or ErrConflict if the name is
	// used.
	AddZone(ctx context.Context, z zones.Zone) (zones.Zone, error)
	RemoveZone(ctx context.Context, name string) error
}

// PauseRequest is the body of POST /v1/pause.
type PauseRequest struct {
	For config.Duration `json:"for,omitempty"` // 0: until resumed
}

// PauseState says whether events are taken.
type PauseState struct {
	Paused bool      `json:"paused"`
	Until  time.Time `json:"until,omitzero"` // absent: until resumed
	Why    string    `json:"why,omitempty"`  // how it was begun, if not by a request: said to NAME, or by a button of NAME
}

// ZonesAnswer is the answer to GET /v1/zones.
type ZonesAnswer struct {
	Zones []zones.Zone `json:"zones"`
}

// RemovedZone is the answer to DELETE /v1/zones/{name}.
type RemovedZone struct {
	Name string `json:"name"`
}

// PrivateStatus is the state of the private zones.
type PrivateStatus struct {
	Zones   int               `json:"zones"`
	Active  []string          `json:"active"`  // names of the zones that apply now
	Dropped map[string]uint64 `json:"dropped"` // events dropped since the start, by reason: paused, private time, private place
}

// pauser computes the end of a pause by a clock.
type pauser struct {
	Intake
	now func() time.Time
}

var pauseTopic = topic[*pauser]{pause.untyped, resume.untyped}

var (
	pause = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/pause", id: "pause", optional: true,
		summary: "Pause the intake of events", gives: "The state",
	}, func(s *pauser, ctx context.Context, req PauseRequest) (PauseState, error) {
		var until time.Time
		if req.For > 0 {
			until = s.now().Add(time.Duration(req.For))
		}
		return s.Pause(ctx, until)
	})

	resume = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/resume", id: "resume",
		summary: "Resume the intake of events", gives: "The state",
	}, (*pauser).Resume)
)

var zonesTopic = topic[Zoner]{listZones.untyped, addZone.untyped, removeZone.untyped}

var (
	listZones = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/zones", id: "listZones",
		summary: "List the private zones", gives: "The zones",
	}, func(s Zoner, ctx context.Context) (ZonesAnswer, error) {
		list, err := s.Zones(ctx)
		return ZonesAnswer{list}, err
	})

	addZone = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/zones", id: "addZone", made: true,
		summary: "Create a private zone",
		about:   "A zone is a window of time, a place, or both together, in which nothing is recorded. Events from a zone are acknowledged and dropped, whenever they arrive. A locked node obeys the zones, too, but they can be changed only while it is unlocked.",
		gives:   "The zone, as it was parsed",
	}, Zoner.AddZone)

	removeZone = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/zones/{name}", id: "removeZone",
		summary: "Remove a private zone", gives: "The removed zone",
	}, func(s Zoner, ctx context.Context, in byName) (RemovedZone, error) {
		return RemovedZone(in), s.RemoveZone(ctx, in.Name)
	})
)

// Pause stops taking events; 0: until Resume.
func (c *Client) Pause(ctx context.Context, d time.Duration) (PauseState, error) {
	return call(ctx, c, pause, PauseRequest{config.Duration(d)})
}

// Resume takes events again.
func (c *Client) Resume(ctx context.Context) (PauseState, error) {
	return call(ctx, c, resume, none{})
}

// Zones lists the private zones.
func (c *Client) Zones(ctx context.Context) (ZonesAnswer, error) {
	return call(ctx, c, listZones, none{})
}

// AddZone adds a private zone.
func (c *Client) AddZone(ctx context.Context, z zones.Zone) (zones.Zone, error) {
	return call(ctx, c, addZone, z)
}

// RemoveZone removes a private zone.
func (c *Client) RemoveZone(ctx context.Context, name string) (RemovedZone, error) {
	return call(ctx, c, removeZone, byName{name})
}
