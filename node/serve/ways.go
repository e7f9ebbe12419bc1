package serve

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// Way is one by which the node's keys are opened.
type Way string

const (
	WayPassphrase Way = "passphrase"
	WayKeyFile    Way = "key-file"
	WayKeyring    Way = "keyring" // of the OS
)

var allWays = []Way{WayPassphrase, WayKeyFile, WayKeyring}

// Locksmith changes how the keys are opened. What they close is not touched:
// it takes as long however much is remembered.
type Locksmith interface {
	// Ways lists those that open the keys. A locked node tells, too.
	Ways(ctx context.Context) ([]Way, error)
	// SetWay adds one, or changes it; who opened by it before can't any more,
	// but for copies of the folder. ErrPassphrase where the present one is wrong.
	SetWay(ctx context.Context, w Way, r WayRequest) error
	// RemoveWay takes one away: memory.ErrNotFound, and ErrConflict for the last.
	RemoveWay(ctx context.Context, w Way) error
}

// WayRequest goes with PUT /v1/keys/ways/{way}.
type WayRequest struct {
	// Passphrase is the present one; empty: the node uses what the
	// configuration gives, or a key file in the home.
	Passphrase Secret `json:"passphrase,omitempty"`
	New        Secret `json:"new,omitempty"`  // the new passphrase
	Path       string `json:"path,omitempty"` // of a key file, absolute; empty: in the home
}

// Ways is the answer of /v1/keys/ways.
type Ways struct {
	Ways []Way `json:"ways"`
}

// MinPassphrase is the least number of characters of a new one; scrypt does the
// rest. maxPassphrase is in bytes.
const (
	MinPassphrase = 8
	maxPassphrase = 1024
)

func (h *handler) ways(r *http.Request) (any, error) {
	ways, err := h.Service.Ways(r.Context())
	return Ways{notNil(ways)}, err
}

func wayOf(r *http.Request) (Way, error) {
	w := Way(r.PathValue("way"))
	if !slices.Contains(allWays, w) {
		return "", kindNotFound.problem("way", fmt.Sprintf("way: %q is none: want one of %v", w, allWays))
	}
	return w, nil
}

func (h *handler) setWay(r *http.Request) (any, error) {
	w, err := wayOf(r)
	if err != nil {
		return nil, err
	}
	var req WayRequest
	if err := decodeBody(r, &req, true); err != nil {
		return nil, err
	}
	n := utf8.RuneCountInString(string(req.New))
	switch {
	case w == WayPassphrase && (n < MinPassphrase || len(req.New) > maxPassphrase):
		return nil, kindInvalid.problem("new", fmt.Sprintf("new: want %d characters to %d bytes", MinPassphrase, maxPassphrase))
	case w != WayPassphrase && req.New != "":
		return nil, kindInvalid.problem("new", "new: is for the passphrase")
	case w != WayKeyFile && req.Path != "":
		return nil, kindInvalid.problem("path", "path: is for the key file")
	case req.Path != "" && !filepath.IsAbs(req.Path):
		return nil, kindInvalid.problem("path", "path: want an absolute one")
	}
	h.keys.Lock()
	defer h.keys.Unlock()
	if err := h.Service.SetWay(r.Context(), w, req); err != nil {
		return nil, err
	}
	return h.ways(r)
}

func (h *handler) removeWay(r *http.Request) (any, error) {
	w, err := wayOf(r)
	if err != nil {
		return nil, err
	}
	h.keys.Lock()
	defer h.keys.Unlock()
	if err := h.Service.RemoveWay(r.Context(), w); err != nil {
		return nil, err
	}
	return h.ways(r)
}

// Ways lists those that open the keys.
func (c *Client) Ways(ctx context.Context) (v Ways, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/keys/ways", nil, nil, &v)
}

// SetWay adds one, or changes it.
func (c *Client) SetWay(ctx context.Context, w Way, r WayRequest) (v Ways, err error) {
	return v, c.call(ctx, http.MethodPut, "/v1/keys/ways/"+string(w), nil, r, &v)
}

// RemoveWay takes one away.
func (c *Client) RemoveWay(ctx context.Context, w Way) (v Ways, err error) {
	return v, c.call(ctx, http.MethodDelete, "/v1/keys/ways/"+string(w), nil, nil, &v)
}
