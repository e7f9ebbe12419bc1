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

// Keys locks and unlocks the node, and changes the ways to unlock it. How long
// this takes does not depend on the number of memories.
type Keys interface {
	// Lock removes the keys from memory. Intake continues.
	Lock(ctx context.Context) error
	// Unlock opens the store. Without a passphrase, it uses the configuration
	// or a key file in the home. It returns ErrPassphrase if that does not
	// work, and ErrConflict if no passphrase could work either.
	Unlock(ctx context.Context, passphrase Secret) error
	// Ways lists the ways to unlock. A locked node answers, too.
	Ways(ctx context.Context) ([]Way, error)
	// SetWay adds or changes a way to unlock. An earlier key of this way no
	// longer works, except with old copies of the folder. It returns
	// ErrPassphrase if the present passphrase is wrong.
	SetWay(ctx context.Context, w Way, r WayRequest) error
	// RemoveWay removes a way to unlock, or returns memory.ErrNotFound, or
	// ErrConflict for the last one.
	RemoveWay(ctx context.Context, w Way) error
}

// Way is a way to unlock the node's keys.
type Way string

const (
	WayPassphrase Way = "passphrase"
	WayKeyFile    Way = "key-file"
	WayKeyring    Way = "keyring" // of the OS
)

var allUnlockWays = []Way{WayPassphrase, WayKeyFile, WayKeyring}

// UnlockRequest is the body of POST /v1/unlock and /v1/vault/unlock.
type UnlockRequest struct {
	Passphrase Secret          `json:"passphrase,omitempty"`
	TTL        config.Duration `json:"ttl,omitempty"` // only for the vault; 0: 5 minutes, at most 1 hour
}

// UnlockState is the answer to locking and unlocking.
type UnlockState struct {
	Locked     bool      `json:"locked"`
	VaultUntil time.Time `json:"vault_until,omitzero"` // until when the vault is open; absent: it is closed
}

// WayRequest is the body of PUT /v1/keys/ways/{way}.
type WayRequest struct {
	// Passphrase is the present one. Empty: the node uses the configuration or a key file in the
	// home.
	Passphrase Secret `json:"passphrase,omitempty"`
	New        Secret `json:"new,omitempty"`  // the new passphrase
	Path       string `json:"path,omitempty"` // absolute path of a key file; empty: in the home
}

// Ways is the answer to /v1/keys/ways.
type Ways struct {
	Ways []Way `json:"ways"`
}

// MinPassphrase is the minimum number of characters of a new passphrase; scrypt
// makes guessing slow. maxPassphrase is in bytes.
const (
	MinPassphrase = 8
	maxPassphrase = 1024
)

type wayOf struct {
	Way Way `path:"way" enum:"passphrase,key-file,keyring" doc:"the way to unlock"`
}

type setWayOf struct {
	Way  Way `path:"way" enum:"passphrase,key-file,keyring" doc:"the way to unlock"`
	Body WayRequest
}

var keysTopic = topic[Keys]{lock.untyped, unlock.untyped, listUnlockWays.untyped, setUnlockWay.untyped, removeUnlockWay.untyped}

var (
	lock = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/lock", id: "lock",
		summary: "Lock the node: remove its keys from memory", gives: "The state: locked; events are still taken",
	}, func(s Keys, ctx context.Context) (UnlockState, error) {
		return UnlockState{Locked: true}, s.Lock(ctx)
	})

	unlock = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/unlock", id: "unlock", optional: true, alone: true,
		summary: "Unlock the node: open its store", about: "A passphrase is checked even if the store is open already.", gives: "The state: unlocked",
	}, func(s Keys, ctx context.Context, req UnlockRequest) (UnlockState, error) {
		if req.TTL != 0 {
			return UnlockState{}, kindInvalid.problem("ttl", "ttl: goes only with the vault; the store stays open until it is locked")
		}
		return UnlockState{}, s.Unlock(ctx, req.Passphrase)
	})

	listUnlockWays = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/keys/ways", id: "ways",
		summary: "List the ways to unlock the node, also while it is locked", gives: "The ways",
	}, unlockWaysAfter)

	setUnlockWay = jsonRoute(RightCommand, spec{
		method: "PUT", path: "/v1/keys/ways/{way}", id: "setWay", optional: true, alone: true,
		summary: "Set a new passphrase, a key file or the OS keyring as a way to unlock", gives: "The ways after the change",
	}, func(s Keys, ctx context.Context, in setWayOf) (Ways, error) {
		if err := s.SetWay(ctx, in.Way, in.Body); err != nil {
			return Ways{}, err
		}
		return unlockWaysAfter(s, ctx)
	})

	removeUnlockWay = jsonRoute(RightCommand, spec{
		method: "DELETE", path: "/v1/keys/ways/{way}", id: "removeWay", alone: true,
		summary: "Remove a way to unlock; the last one can't be removed", gives: "The ways after the change",
	}, func(s Keys, ctx context.Context, in wayOf) (Ways, error) {
		if err := s.RemoveWay(ctx, in.Way); err != nil {
			return Ways{}, err
		}
		return unlockWaysAfter(s, ctx)
	})
)

func unlockWaysAfter(s Keys, ctx context.Context) (Ways, error) {
	ways, err := s.Ways(ctx)
	return Ways{ways}, err
}

func (w Way) check() error {
	if !slices.Contains(allUnlockWays, w) {
		return kindNotFound.problem("way", fmt.Sprintf("way: %q is not known: want one of %v", w, allUnlockWays))
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
		return kindInvalid.problem("new", "new: goes only with the way passphrase")
	case in.Way != WayKeyFile && r.Path != "":
		return kindInvalid.problem("path", "path: goes only with the way key-file")
	case r.Path != "" && !filepath.IsAbs(r.Path):
		return kindInvalid.problem("path", "path: want an absolute path")
	}
	return nil
}

// Lock drops the keys.
func (c *Client) Lock(ctx context.Context) (UnlockState, error) { return call(ctx, c, lock, none{}) }

// Unlock opens the store.
func (c *Client) Unlock(ctx context.Context, passphrase Secret) (UnlockState, error) {
	return call(ctx, c, unlock, UnlockRequest{Passphrase: passphrase})
}

// Ways lists the ways to unlock.
func (c *Client) Ways(ctx context.Context) (Ways, error) { return call(ctx, c, listUnlockWays, none{}) }

// SetWay adds or changes a way to unlock.
func (c *Client) SetWay(ctx context.Context, w Way, r WayRequest) (Ways, error) {
	return call(ctx, c, setUnlockWay, setWayOf{w, r})
}

// RemoveWay removes a way to unlock.
func (c *Client) RemoveWay(ctx context.Context, w Way) (Ways, error) {
	return call(ctx, c, removeUnlockWay, wayOf{w})
}
