package serve

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// Vault opens the vault, and tells the owner who has read it.
type Vault interface {
	resolver
	// UnlockVault opens the vault until a time. An empty passphrase is enough
	// if no passphrase protects the node's keys; otherwise it returns
	// ErrPassphrase.
	UnlockVault(ctx context.Context, passphrase Secret, until time.Time) error
	// Reveal returns a vault memory's secret, and records that it was read. It
	// returns ErrVaultLocked while the vault is closed.
	Reveal(ctx context.Context, id memory.ID) (Revealed, error)
	// VaultLog returns the recorded readings of secrets on this node, newest
	// first, at most limit. Readings of an erased entry were erased with it.
	VaultLog(ctx context.Context, limit int) (VaultLogAnswer, error)
	// RecoverVault uses the recovery phrase to open secrets that only other
	// devices can open, and also seals them for this device. It returns
	// ErrVaultLocked while the vault is closed.
	RecoverVault(ctx context.Context, phrase Secret) (VaultRecovered, error)
}

// How long the vault stays open.
const (
	DefaultVaultTTL = 5 * time.Minute
	MaxVaultTTL     = time.Hour
)

// Revealed is a secret, shown to its owner.
type Revealed struct {
	ID        memory.ID `json:"id"`
	Label     string    `json:"label"`
	EntryType string    `json:"entry_type"`
	Secret    Secret    `json:"secret"`
}

// VaultRead is one reading of a secret.
type VaultRead struct {
	At        time.Time     `json:"at"`
	ID        memory.ID     `json:"id"`
	Label     string        `json:"label"`
	EntryType string        `json:"entry_type"`
	By        memory.Source `json:"by"`
}

// VaultLogAnswer lists readings, newest first.
type VaultLogAnswer struct {
	Reads    []VaultRead `json:"reads"`
	Exported time.Time   `json:"exported,omitzero"` // when an export or a backup last included secrets, which does not count as a reading
}

// RecoverVaultRequest is the body of POST /v1/vault/recover.
type RecoverVaultRequest struct {
	Phrase Secret `json:"phrase"`
}

// VaultRecovered counts entries of the vault.
type VaultRecovered struct {
	Recovered int `json:"recovered"` // this device can open them now
	Here      int `json:"here"`      // this device could open them before
	Lost      int `json:"lost"`      // sealed only to another device, before recovery was added
}

type vaultLogQuery struct {
	Limit int `query:"limit" min:"1" max:"1000" default:"50"`
}

// opener opens the vault for a limited time, by a clock.
type opener struct {
	Vault
	now func() time.Time
}

var vaultTopic = topic[*opener]{unlockVault.untyped, recoverVault.untyped, vaultLog.untyped, revealSecret.untyped}

var (
	unlockVault = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/vault/unlock", id: "unlockVault", optional: true, alone: true,
		summary: "Unlock the vault for a while", gives: "Until when the vault is open; by default 5 minutes, at most 1h",
	}, func(s *opener, ctx context.Context, req UnlockRequest) (UnlockState, error) {
		ttl := cmp.Or(time.Duration(req.TTL), DefaultVaultTTL)
		if ttl > MaxVaultTTL {
			return UnlockState{}, kindInvalid.problem("ttl", "ttl: at most 1h")
		}
		if _, far := elsewhereOf(ctx); far && req.Passphrase == "" { // somebody with the key of the console may not have the passphrase
			return UnlockState{}, kindForbidden.problem("passphrase", "passphrase: a console on another machine can't open the vault without it")
		}
		until := s.now().Add(ttl)
		return UnlockState{VaultUntil: until}, s.UnlockVault(ctx, req.Passphrase, until)
	})

	recoverVault = fieldRoute[RecoverVaultRequest](RightCommand, spec{
		method: "POST", path: "/v1/vault/recover", id: "recoverVault", alone: true,
		summary: "Recover secrets that only other devices can open, with the recovery phrase",
		about:   "The secrets are then also sealed for this device.",
		gives:   "How many entries this device can open now, could open before, and can't open even with the phrase",
	}, (*opener).RecoverVault)

	vaultLog = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/vault/log", id: "vaultLog",
		summary: "List which secrets were read on this node, newest first", gives: "The readings",
	}, func(s *opener, ctx context.Context, in vaultLogQuery) (VaultLogAnswer, error) {
		v, err := s.VaultLog(ctx, in.Limit)
		v.Reads = NonNil(v.Reads)
		return v, err
	})

	revealSecret = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/vault/{id}", id: "revealSecret",
		summary: "Show a secret to its owner", gives: "The secret; the reading is recorded",
	}, byID((*opener).Reveal))
)

// UnlockVault opens the vault for a time; 0: DefaultVaultTTL.
func (c *Client) UnlockVault(ctx context.Context, passphrase Secret, ttl time.Duration) (UnlockState, error) {
	return call(ctx, c, unlockVault, UnlockRequest{Passphrase: passphrase, TTL: config.Duration(ttl)})
}

// RecoverVault opens the entries that other devices have added to the vault.
func (c *Client) RecoverVault(ctx context.Context, phrase Secret) (VaultRecovered, error) {
	return call(ctx, c, recoverVault, RecoverVaultRequest{phrase})
}

// VaultLog returns the readings of secrets, newest first; limit 0: DefaultPage.
func (c *Client) VaultLog(ctx context.Context, limit int) (VaultLogAnswer, error) {
	return call(ctx, c, vaultLog, vaultLogQuery{limit})
}

// Reveal returns a secret.
func (c *Client) Reveal(ctx context.Context, id string) (Revealed, error) {
	return call(ctx, c, revealSecret, named{id})
}

// SealedElsewhere is the error for a secret that only another device can open.
type SealedElsewhere struct{ Label string }

func (e *SealedElsewhere) Error() string {
	return fmt.Sprintf("%v: the secret %q is sealed to another device: export it there with --secrets --encrypt and import that here, or see locket vault recover", memory.ErrInvalid, e.Label)
}

// Unwrap returns memory.ErrInvalid.
func (e *SealedElsewhere) Unwrap() error { return memory.ErrInvalid }
