package serve

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// ErrRelay: a relay could not be reached, or refuses. Its words are for the
// wearer to see.
var ErrRelay = errors.New("relay")

// Relayer says where envelopes are carried to and from.
type Relayer interface {
	// Relays gives how each place stands, the house first.
	Relays(ctx context.Context) ([]Relay, error)
	// AddRelay makes another relay a mirror, and carries everything there:
	// memory.ErrInvalid, ErrConflict where it is there already, ErrRelay.
	AddRelay(ctx context.Context, url string) ([]Relay, error)
	// RemoveRelay leaves one: memory.ErrNotFound; ErrConflict for the house
	// where no other relay has everything.
	RemoveRelay(ctx context.Context, url string) ([]Relay, error)
	// MoveRelay makes a relay the house, once it has everything.
	MoveRelay(ctx context.Context, url string) ([]Relay, error)
	// SyncFolder exchanges envelopes with a folder on the node's machine, named
	// by an absolute path: a stick, or what another program keeps alike.
	SyncFolder(ctx context.Context, dir string) (FolderSynced, error)
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

// FolderRequest names a folder.
type FolderRequest struct {
	Folder string `json:"folder"` // absolute
}

// FolderSynced is what meeting a folder came to.
type FolderSynced struct {
	Took    int      `json:"took"`    // deltas that were not here
	Gave    int      `json:"gave"`    // deltas that were not there
	Blobs   int      `json:"blobs"`   // either way
	Trouble []string `json:"trouble"` // what was there and is no part of the space
}

func (h *handler) relays(r *http.Request) (any, error) {
	list, err := h.Service.Relays(r.Context())
	return RelaysAnswer{notNil(list)}, err
}

// relayBy does something about the relay that a request names.
func (h *handler) relayBy(do func(Relayer, context.Context, string) ([]Relay, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var req RelayRequest
		if err := decodeBody(r, &req, false); err != nil {
			return nil, err
		}
		list, err := do(h.Service, r.Context(), req.URL)
		return RelaysAnswer{notNil(list)}, err
	}
}

func (h *handler) syncFolder(r *http.Request) (any, error) {
	var req FolderRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	return h.Service.SyncFolder(r.Context(), req.Folder)
}

// Relays lists the places that envelopes are carried to and from.
func (c *Client) Relays(ctx context.Context) ([]Relay, error) {
	var v RelaysAnswer
	err := c.call(ctx, http.MethodGet, "/v1/relays", nil, nil, &v)
	return v.Relays, err
}

func (c *Client) relay(ctx context.Context, method, path, url string) ([]Relay, error) {
	var v RelaysAnswer
	err := c.call(ctx, method, path, nil, RelayRequest{url}, &v)
	return v.Relays, err
}

// AddRelay makes another relay a mirror.
func (c *Client) AddRelay(ctx context.Context, url string) ([]Relay, error) {
	return c.relay(ctx, http.MethodPost, "/v1/relays", url)
}

// RemoveRelay leaves one.
func (c *Client) RemoveRelay(ctx context.Context, url string) ([]Relay, error) {
	return c.relay(ctx, http.MethodDelete, "/v1/relays", url)
}

// MoveRelay makes a relay the house.
func (c *Client) MoveRelay(ctx context.Context, url string) ([]Relay, error) {
	return c.relay(ctx, http.MethodPost, "/v1/relays/move", url)
}

// SyncFolder exchanges envelopes with a folder on the node's machine.
func (c *Client) SyncFolder(ctx context.Context, dir string) (v FolderSynced, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/sync/folder", nil, FolderRequest{dir}, &v)
}
