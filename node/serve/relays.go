package serve

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/memory"
)

// ErrRelay: a relay could not be reached, or refused. The message is for the
// wearer.
var ErrRelay = errors.New("relay")

// Relayer manages the remotes with which envelopes are exchanged.
type Relayer interface {
	// Relays returns the state of each remote, the primary relay first.
	Relays(ctx context.Context) ([]Relay, error)
	// AddRelay makes another relay a mirror, and copies everything to it.
	// Errors: memory.ErrInvalid, ErrConflict if it is there already, ErrRelay.
	AddRelay(ctx context.Context, url string) ([]Relay, error)
	// RemoveRelay stops using a relay. Errors: memory.ErrNotFound; ErrConflict
	// for the primary relay if no other relay has everything.
	RemoveRelay(ctx context.Context, url string) ([]Relay, error)
	// MoveRelay makes a relay the primary one, when it has everything.
	MoveRelay(ctx context.Context, url string) ([]Relay, error)
}

// The kinds of remotes.
const (
	RelayPrimary = "house"  // receives membership entries first; it is called house in JSON, because programs know that name
	RelayMirror  = "mirror" // a relay with the same content
	RelayPeer    = "peer"   // another device in the same network
)

// Relay is a remote with which envelopes are exchanged.
type Relay struct {
	URL     string          `json:"url"`
	Kind    string          `json:"kind"`
	Member  memory.MemberID `json:"member,omitzero"` // which device it is, for kind peer
	Synced  time.Time       `json:"synced,omitzero"`
	Error   string          `json:"error,omitempty"`   // error of the last round
	Lacks   int             `json:"lacks"`             // deltas that this device has and the remote lacks
	Blobs   int             `json:"blobs"`             // blobs that this device has and has not given to the remote
	Metered bool            `json:"metered,omitempty"` // blobs wait because sync.metered is set
	Busy    bool            `json:"busy,omitempty"`
	Done    int             `json:"done,omitempty"` // number of deltas that are done, of All that are being sent
	All     int             `json:"all,omitempty"`
	Retry   time.Time       `json:"retry,omitzero"` // when the next try is due
	Trouble []string        `json:"trouble"`        // misbehaviour of the remote: forks, and data that it withholds
}

// Fails reports whether the remote has a fault, or its last round failed.
func (r *Relay) Fails() bool { return r.Error != "" || len(r.Trouble) > 0 }

// RelaysAnswer lists relays.
type RelaysAnswer struct {
	Relays []Relay `json:"relays"`
}

// RelayRequest names a relay.
type RelayRequest struct {
	URL string `json:"url"`
}

var relaysTopic = topic[Relayer]{listRelays.untyped, addRelay.untyped, removeRelay.untyped, moveRelay.untyped}

var (
	listRelays = plainList[RelaysAnswer](RightOwner, spec{
		method: "GET", path: "/v1/relays", id: "relays",
		summary: "List the relays and devices with which this device exchanges data", gives: "The state of each, the primary relay first",
	}, Relayer.Relays)

	addRelay = listRoute[RelaysAnswer](RightOwner, spec{
		method: "POST", path: "/v1/relays", id: "addRelay",
		summary: "Add a relay as a mirror", gives: "The list",
	}, aboutRelay(Relayer.AddRelay))

	removeRelay = listRoute[RelaysAnswer](RightOwner, spec{
		method: "DELETE", path: "/v1/relays", id: "removeRelay",
		summary: "Stop using a relay", gives: "The list",
	}, aboutRelay(Relayer.RemoveRelay))

	moveRelay = listRoute[RelaysAnswer](RightOwner, spec{
		method: "POST", path: "/v1/relays/move", id: "moveRelay",
		summary: "Make another relay the primary one, once it has everything", gives: "The list",
	}, aboutRelay(Relayer.MoveRelay))
)

// aboutRelay calls do with the relay that a request names.
func aboutRelay(do func(Relayer, context.Context, string) ([]Relay, error)) func(Relayer, context.Context, RelayRequest) ([]Relay, error) {
	return func(s Relayer, ctx context.Context, req RelayRequest) ([]Relay, error) { return do(s, ctx, req.URL) }
}

// Relays lists the remotes.
func (c *Client) Relays(ctx context.Context) ([]Relay, error) {
	return items(ctx, c, listRelays, none{})
}

// AddRelay makes another relay a mirror.
func (c *Client) AddRelay(ctx context.Context, url string) ([]Relay, error) {
	return items(ctx, c, addRelay, RelayRequest{url})
}

// RemoveRelay stops using a relay.
func (c *Client) RemoveRelay(ctx context.Context, url string) ([]Relay, error) {
	return items(ctx, c, removeRelay, RelayRequest{url})
}

// MoveRelay makes a relay the primary one.
func (c *Client) MoveRelay(ctx context.Context, url string) ([]Relay, error) {
	return items(ctx, c, moveRelay, RelayRequest{url})
}
