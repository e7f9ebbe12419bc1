package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/node/config"
)

// Keys opens and closes, and changes how the keys are opened. What they close
// is not touched by that: it takes as long however much is remembered.
type Keys interface {
	// Lock drops the keys from memory; intake goes on.
	Lock(ctx context.Context) error
	// Unlock opens the store. Without a passphrase what the settings name, or a
	// key file in the home, is to open it: ErrPassphrase where that does not, and
	// ErrConflict where no passphrase would either.
	Unlock(ctx context.Context, passphrase Secret) error
	// Ways lists those that open the keys. A locked node tells, too.
	Ways(ctx context.Context) ([]Way, error)
	// SetWay adds one, or changes it; who opened by it before can't any more,
	// but for copies of the folder. ErrPassphrase where the present one is wrong.
	SetWay(ctx context.Context, w Way, r WayRequest) error
	// RemoveWay takes one away: memory.ErrNotFound, and ErrConflict for the last.
	RemoveWay(ctx context.Context, w Way) error
}

// Way is one by which the node's keys are opened.
type Way string

const (
	WayPassphrase Way = "passphrase"
	WayKeyFile    Way = "key-file"
	WayKeyring    Way = "keyring" // of the OS
)

var allWays = []Way{WayPassphrase, WayKeyFile, WayKeyring}

// UnlockRequest is the body of POST /v1/unlock and /v1/vault/unlock.
type UnlockRequest struct {
	Passphrase Secret          `json:"passphrase,omitempty"`
	TTL        config.Duration `json:"ttl,omitempty"` // vault only; 0: 5 minutes, at most 1 hour
}

// UnlockState is the answer.
type UnlockState struct {
	Locked     bool      `json:"locked"`
	VaultUntil time.Time `json:"vault_until,omitzero"` // absent: closed
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

type wayOf struct {
	Way Way `path:"way" enum:"passphrase,key-file,keyring" doc:"which one"`
}

type setWayOf struct {
	Way  Way `path:"way" enum:"passphrase,key-file,keyring" doc:"which one"`
	Body WayRequest
}

var locking = topic[Keys]{lock, unlock, listWays, setWay, removeWay}

var (
	lock = asks(RightOwner, spec{
		method: "POST", path: "/v1/lock", id: "lock",
		summary: "Drop the keys from memory", gives: "It is locked; events are taken all the same",
	}, func(s Keys, ctx context.Context) (UnlockState, error) {
		return UnlockState{Locked: true}, s.Lock(ctx)
	})

	unlock = takes(RightOwner, spec{
		method: "POST", path: "/v1/unlock", id: "unlock", optional: true, alone: true,
		summary: "Open the store", gives: "It is open",
	}, func(s Keys, ctx context.Context, req UnlockRequest) (UnlockState, error) {
		if req.TTL != 0 {
			return UnlockState{}, kindInvalid.problem("ttl", "ttl: is for the vault")
		}
		return UnlockState{}, s.Unlock(ctx, req.Passphrase)
	})

	listWays = asks(RightOwner, spec{
		method: "GET", path: "/v1/keys/ways", id: "ways",
		summary: "Tell what opens the keys, also of a locked node", gives: "The ways",
	}, waysNow)

	setWay = takes(RightOwner, spec{
		method: "PUT", path: "/v1/keys/ways/{way}", id: "setWay", optional: true, alone: true,
		summary: "Have a new passphrase, a key file or the OS keyring open the keys", gives: "The ways, as they are now",
	}, func(s Keys, ctx context.Context, in setWayOf) (Ways, error) {
		if err := s.SetWay(ctx, in.Way, in.Body); err != nil {
			return Ways{}, err
		}
		return waysNow(s, ctx)
	})

	removeWay = takes(RightOwner, spec{
		method: "DELETE", path: "/v1/keys/ways/{way}", id: "removeWay", alone: true,
		summary: "Have it open them no more; the last one stays", gives: "The ways, as they are now",
	}, func(s Keys, ctx context.Context, in wayOf) (Ways, error) {
		if err := s.RemoveWay(ctx, in.Way); err != nil {
			return Ways{}, err
		}
		return waysNow(s, ctx)
	})
)

func waysNow(s Keys, ctx context.Context) (Ways, error) {
	ways, err := s.Ways(ctx)
	return Ways{ways}, err
}

func (w Way) check() error {
	if !slices.Contains(allWays, w) {
		return kindNotFound.problem("way", fmt.Sprintf("way: %q is none: want one of %v", w, allWays))
	}
	return nil
}

func (in *wayOf) check() error { return in.Way.check() }

func (in *setWayOf) check() error {
	if err := in.Way.check(); err != nil {
		return err
	}
	r, n := &in.Body, utf8.RuneCountInString(string(in.Body.New))
	switch {
	case in.Way == WayPassphrase && (n < MinPassphrase || len(r.New) > maxPassphrase):
		return kindInvalid.problem("new", fmt.Sprintf("new: want %d characters to %d bytes", MinPassphrase, maxPassphrase))
	case in.Way != WayPassphrase && r.New != "":
		return kindInvalid.problem("new", "new: is for the passphrase")
	case in.Way != WayKeyFile && r.Path != "":
		return kindInvalid.problem("path", "path: is for the key file")
	case r.Path != "" && !filepath.IsAbs(r.Path):
		return kindInvalid.problem("path", "path: want an absolute one")
	}
	return nil
}

// Lock drops the keys.
func (c *Client) Lock(ctx context.Context) (UnlockState, error) { return lock.call(ctx, c, none{}) }

// Unlock opens the store.
func (c *Client) Unlock(ctx context.Context, passphrase Secret) (UnlockState, error) {
	return unlock.call(ctx, c, UnlockRequest{Passphrase: passphrase})
}

// Ways lists those that open the keys.
func (c *Client) Ways(ctx context.Context) (Ways, error) { return listWays.call(ctx, c, none{}) }

// SetWay adds one, or changes it.
func (c *Client) SetWay(ctx context.Context, w Way, r WayRequest) (Ways, error) {
	return setWay.call(ctx, c, setWayOf{w, r})
}

// RemoveWay takes one away.
func (c *Client) RemoveWay(ctx context.Context, w Way) (Ways, error) {
	return removeWay.call(ctx, c, wayOf{w})
}
