package serve

import (
	"context"
	"errors"
	"time"
)

// ErrRelay: a relay could not be reached, or refuses. Its words are for the
// wearer to see.
var ErrRelay = errors.New("relay")

// Relayer says where envelopes are carried to and from.
type Relayer interface {
	// Relays returns how each place stands, the house first.
	Relays(ctx context.Context) ([]Relay, error)
	// AddRelay makes another relay a mirror, and carries everything there:
	// memory.ErrInvalid, ErrConflict where it is there already, ErrRelay.
	AddRelay(ctx context.Context, url string) ([]Relay, error)
	// RemoveRelay leaves one: memory.ErrNotFound; ErrConflict for the house
	// where no other relay has everything.
	RemoveRelay(ctx context.Context, url string) ([]Relay, error)
	// MoveRelay makes a relay the house, once it has everything.
	MoveRelay(ctx context.Context, url string) ([]Relay, error)
}

// The kinds of places.
const (
	RelayHouse  = "house"  // has the last word on who is a member
	RelayMirror = "mirror" // has the same
	RelayPeer   = "peer"   // another device, in the same network
)

// Relay is a place that envelopes are carried to and from.
type Relay struct {
	URL     string    `json:"url"`
	Kind    string    `json:"kind"`
	Synced  time.Time `json:"synced,omitzero"`
	Error   string    `json:"error,omitempty"`   // of the last round
	Lacks   int       `json:"lacks"`             // deltas that are here, and not there
	Blobs   int       `json:"blobs"`             // blobs that are here, and were not given there
	Metered bool      `json:"metered,omitempty"` // these wait, as sync.metered is set
	Busy    bool      `json:"busy,omitempty"`
	Done    int       `json:"done,omitempty"` // of all that are being sent
	All     int       `json:"all,omitempty"`
	Retry   time.Time `json:"retry,omitzero"` // when it is tried again
	Trouble []string  `json:"trouble"`        // what it did that it should not have: forks, what it withholds
}

// Fails reports whether there is something to be said of it: its last round
// failed, or it did what it should not have.
func (r *Relay) Fails() bool { return r.Error != "" || len(r.Trouble) > 0 }

// RelaysAnswer lists them.
type RelaysAnswer struct {
	Relays []Relay `json:"relays"`
}

// RelayRequest names one.
type RelayRequest struct {
	URL string `json:"url"`
}

var relaying = topic[Relayer]{listRelays, addRelay, removeRelay, moveRelay}

var (
	listRelays = asks(RightOwner, spec{
		method: "GET", path: "/v1/relays", id: "relays",
		summary: "The relays and other devices that envelopes are carried to and from", gives: "How each stands, the first relay first",
	}, func(s Relayer, ctx context.Context) (RelaysAnswer, error) {
		list, err := s.Relays(ctx)
		return RelaysAnswer{list}, err
	})

	addRelay = takes(RightOwner, spec{
		method: "POST", path: "/v1/relays", id: "addRelay",
		summary: "Have another relay hold the same", gives: "The list",
	}, aboutRelay(Relayer.AddRelay))

	removeRelay = takes(RightOwner, spec{
		method: "DELETE", path: "/v1/relays", id: "removeRelay",
		summary: "Leave a relay", gives: "The list",
	}, aboutRelay(Relayer.RemoveRelay))

	moveRelay = takes(RightOwner, spec{
		method: "POST", path: "/v1/relays/move", id: "moveRelay",
		summary: "Make another relay the first, once it has everything", gives: "The list",
	}, aboutRelay(Relayer.MoveRelay))
)

// aboutRelay does something about the relay that a request names.
func aboutRelay(do func(Relayer, context.Context, string) ([]Relay, error)) func(Relayer, context.Context, RelayRequest) (RelaysAnswer, error) {
	return func(s Relayer, ctx context.Context, req RelayRequest) (RelaysAnswer, error) {
		list, err := do(s, ctx, req.URL)
		return RelaysAnswer{list}, err
	}
}

// Relays lists the places that envelopes are carried to and from.
func (c *Client) Relays(ctx context.Context) ([]Relay, error) {
	v, err := listRelays.call(ctx, c, none{})
	return v.Relays, err
}

// AddRelay makes another relay a mirror.
func (c *Client) AddRelay(ctx context.Context, url string) ([]Relay, error) {
	v, err := addRelay.call(ctx, c, RelayRequest{url})
	return v.Relays, err
}

// RemoveRelay leaves one.
func (c *Client) RemoveRelay(ctx context.Context, url string) ([]Relay, error) {
	v, err := removeRelay.call(ctx, c, RelayRequest{url})
	return v.Relays, err
}

// MoveRelay makes a relay the house.
func (c *Client) MoveRelay(ctx context.Context, url string) ([]Relay, error) {
	v, err := moveRelay.call(ctx, c, RelayRequest{url})
	return v.Relays, err
}
