package keyring

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// MaxVaultTime is the longest that a session lasts.
const MaxVaultTime = time.Hour

// VaultSession holds the vault's private key for a limited time. Its methods
// are safe for concurrent use.
type VaultSession struct {
	expires time.Time
	forget  func() // set by the ring
	mu      sync.Mutex
	timer   *time.Timer
	id      *seal.Identity // nil once it has ended
}

// OpenVault opens the vault for ttl, which must be greater than 0 and at most
// [MaxVaultTime]. It unlocks again with u, because the ring does not hold the
// vault's key. Whoever finds an unlocked ring can therefore not read the vault.
func (r *Ring) OpenVault(ctx context.Context, u Unlocker, ttl time.Duration) (*VaultSession, error) {
	if ttl <= 0 || ttl > MaxVaultTime {
		return nil, fmt.Errorf("open vault: %w: for %s, at most %s", memory.ErrInvalid, ttl, MaxVaultTime)
	}
	kek, err := r.kek(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	defer kek.Zero()
	id, err := readVault(r.dir, r.public, kek)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	v := &VaultSession{id: id, expires: time.Now().Add(ttl)}
	v.forget = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sessions, v)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		id.Zero()
		return nil, fmt.Errorf("open vault: %w", memory.ErrLocked)
	}
	r.sessions[v] = struct{}{}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.timer = time.AfterFunc(ttl, func() { _ = v.Close() })
	return v, nil
}

// Expires is when the session ends by itself.
func (v *VaultSession) Expires() time.Time { return v.expires }

// Open decrypts a secret that was sealed to the vault's recipient. The caller
// has to erase the result. After the end of the session it returns
// [ErrVaultClosed].
func (v *VaultSession) Open(sealed []byte) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.id != nil && time.Now().Round(0).After(v.expires.Round(0)) {
		v.zero() // the system was suspended, and the timer with it
	}
	if v.id == nil {
		return nil, ErrVaultClosed
	}
	b, err := seal.OpenWith(v.id, sealed)
	if err != nil {
		return nil, fmt.Errorf("open secret: %w", err)
	}
	return b, nil
}

// Close ends the session and erases its key.
func (v *VaultSession) Close() error {
	v.end()
	v.forget()
	return nil
}

func (v *VaultSession) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.timer.Stop()
	v.zero()
}

// zero ends the key; under mu.
func (v *VaultSession) zero() {
	if v.id != nil {
		v.id.Zero()
		v.id = nil
	}
}

func writeVault(dir string, id RingID, kek *seal.Key, vault *seal.Identity) error {
	key := kek.Derive(vaultLabel)
	defer key.Zero()
	seed := vault.Seed().Bytes()
	defer clear(seed)
	body := key.Seal(nil, seed, bound(vaultFile, id))
	if err := writeBoth(dir, vaultFile, body); err != nil {
		return fmt.Errorf("write %s: %w", vaultFile, err)
	}
	return nil
}

func readVault(dir string, p *Public, kek *seal.Key) (*seal.Identity, error) {
	key := kek.Derive(vaultLabel)
	defer key.Zero()
	path := filepath.Join(dir, vaultFile)
	b, err := openSealed(path, vaultFile, p.Ring, key)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	seed, err := seal.KeyFromBytes(b)
	if err != nil {
		return nil, damaged(path, "contents are not a key")
	}
	id := seal.IdentityFromSeed(seed)
	if !id.Recipient().Equal(p.Vault) {
		id.Zero()
		return nil, fmt.Errorf("%w: %s is not the private half of %s's vault", ErrSwapped, path, publicFile)
	}
	return id, nil
}
