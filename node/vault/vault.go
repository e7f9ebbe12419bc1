// Package vault opens what stays closed while a node's keys are open: the secrets of the
// vault, for a limited time, with a record of each use. It also has the ways in which the
// keys themselves are opened.
package vault

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	Assert(ctx context.Context, by engine.Authority, make func(*store.Tx) ([]memory.Assertion, error)) ([]memory.Change, error)
}

// Config is what the vault of an open node needs.
type Config struct {
	Engine   Engine
	Ring     *keyring.Ring
	OnPosted func() // called when there is something to send
}

// Vault is the vault part of an open node. Its methods are safe for concurrent use.
type Vault struct {
	c       Config
	mu      sync.Mutex            // guards session
	session *keyring.VaultSession // nil: it was never opened
}

// New makes a closed Vault.
func New(c Config) *Vault { return &Vault{c: c} }

// View implements opened.Viewer.
func (va *Vault) View(ctx context.Context, fn func(*store.Tx) error) error {
	return va.c.Engine.View(ctx, fn)
}

// Opener implements serve.Vault, except for finding a memory, and the ways of serve.Keys.
type Opener struct {
	of       opened.Of[*Vault]
	public   *keyring.Locked
	unlocker func() (keyring.Unlocker, error)
}

// NewOpener makes an Opener. unlocker opens the keys as the configuration says; it is nil if
// the configuration says nothing.
func NewOpener(of opened.Of[*Vault], public *keyring.Locked, unlocker func() (keyring.Unlocker, error)) Opener {
	return Opener{of, public, unlocker}
}

// PassphraseError translates a wrong passphrase into the API's error.
func PassphraseError(err error) error {
	if errors.Is(err, keyring.ErrWrongPassphrase) {
		return fmt.Errorf("%w", serve.ErrPassphrase)
	}
	return err
}

// UnlockVault implements serve.Vault.
func (op Opener) UnlockVault(ctx context.Context, passphrase serve.Secret, until time.Time) error {
	va, release, err := op.of.Use()
	if err != nil {
		return err
	}
	defer release()
	u := keyring.Passphrase(string(passphrase))
	if passphrase == "" {
		if u, err = op.unlocker(); err != nil {
			return err
		}
		if u == nil {
			return fmt.Errorf("%w: the vault needs the passphrase", serve.ErrPassphrase)
		}
	}
	s, err := va.c.Ring.OpenVault(ctx, u, time.Until(until))
	if err != nil {
		return PassphraseError(err)
	}
	va.mu.Lock()
	defer va.mu.Unlock()
	if va.session != nil {
		err = va.session.Close()
	}
	va.session = s
	return err
}

// OpenUntil returns when the vault closes, or zero if it is closed.
func (va *Vault) OpenUntil() time.Time {
	va.mu.Lock()
	defer va.mu.Unlock()
	if va.session == nil || !time.Now().Before(va.session.Expires()) {
		return time.Time{}
	}
	return va.session.Expires()
}

// Reveal implements serve.Vault. It adds an entry to the memory's history, without the
// secret.
func (op Opener) Reveal(ctx context.Context, id memory.ID) (serve.Revealed, error) {
	return opened.Do(op.of, func(va *Vault) (serve.Revealed, error) { return va.Reveal(ctx, id) })
}

// Reveal returns a secret to the wearer, and records that it was shown.
func (va *Vault) Reveal(ctx context.Context, id memory.ID) (r serve.Revealed, err error) {
	return va.RevealTo(ctx, id, memory.Source{Plugin: "person"})
}

// exported is the source in the history when an export or a backup included a secret.
var exported = memory.Source{Plugin: "export"}

// Export returns a secret for an export or a backup.
func (va *Vault) Export(ctx context.Context, id memory.ID) (serve.Revealed, error) {
	return va.RevealTo(ctx, id, exported)
}

// RevealTo returns a secret, and records to whom it was shown.
func (va *Vault) RevealTo(ctx context.Context, id memory.ID, by memory.Source) (r serve.Revealed, err error) {
	var m memory.Memory
	err = va.c.Engine.View(ctx, func(tx *store.Tx) error {
		m, err = engine.Live(tx, id)
		return err
	})
	if err != nil {
		return r, err
	}
	f := m.Fields.Vault
	if f == nil {
		return r, fmt.Errorf("%w: %s is not in the vault: its type is %s", memory.ErrInvalid, id, m.Type)
	}
	if va.OpenUntil().IsZero() {
		return r, serve.ErrVaultLocked
	}
	va.mu.Lock()
	secret, err := va.session.Open(f.Sealed)
	va.mu.Unlock()
	if errors.Is(err, keyring.ErrVaultClosed) {
		return r, serve.ErrVaultLocked
	}
	if errors.Is(err, seal.ErrOpen) {
		return r, &serve.SealedElsewhere{Label: f.Label}
	}
	if err != nil {
		return r, err
	}
	err = va.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		return tx.Note(memory.Change{Memory: id, Verdict: memory.Noop, At: time.Now().UTC(), By: by,
			Rank: memory.RankPerson, Reason: memory.SecretShown})
	})
	if err != nil {
		return r, err // what can't be recorded is not shown
	}
	return serve.Revealed{ID: id, Label: f.Label, EntryType: f.EntryType, Secret: serve.Secret(secret)}, nil
}
