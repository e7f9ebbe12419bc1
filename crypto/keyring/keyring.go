// Package keyring keeps a node's keys in a folder.
//
// The words:
//
//   - The key-encryption key (KEK) is random, and opens the folder's sealed
//     files. It is in memory only while one of them is opened.
//   - A wrap is the KEK, closed once more: by a passphrase, by a key file, or by
//     a key in the operating system's keyring. Each can be changed without
//     touching what the KEK closes. An old copy of a wrap goes on opening.
//   - [Locked] is what anyone who can read the folder knows: ids and public keys.
//     It is enough to take in events and secrets.
//   - A [Ring] is unlocked. It holds every key but the vault's private half,
//     which a [VaultSession] holds for a limited time.
//   - The root is a signing key that stands for the wearer, and recovery a key
//     pair to which keys can be sealed for bad days. Both come from the phrase of
//     24 words (see [Recover]), and their private halves are stored nowhere.
//
// A locked node can't tell whether a public key in the folder was exchanged;
// unlocking finds it, and says which ([ErrSwapped]).
package keyring

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

var (
	// ErrExists: the folder has a ring already.
	ErrExists = errors.New("keys exist already")
	// ErrWrongPassphrase: it is not the passphrase of this ring.
	ErrWrongPassphrase = errors.New("wrong passphrase")
	// ErrWrongKey: the key file, or the key in the OS keyring, is another one.
	ErrWrongKey = errors.New("wrong key")
	// ErrNoWrap: the ring can't be unlocked in this way.
	ErrNoWrap = errors.New("no such way to unlock")
	// ErrLastWrap: without it the ring could never be unlocked again.
	ErrLastWrap = errors.New("the last way to unlock stays")
	// ErrDamaged: a file is cut short or changed; the wrapping error names it.
	ErrDamaged = errors.New("damaged")
	// ErrSwapped: a public key is not the one that was made; the wrapping error names it.
	ErrSwapped = errors.New("exchanged")
	// ErrPhrase: these are not the 24 words; the wrapping error says why.
	ErrPhrase = errors.New("recovery phrase")
	// ErrVaultClosed: the vault session has ended.
	ErrVaultClosed = errors.New("vault is closed")
)

// idKeyName is the named key for memory.DeriveID in the ring's own space.
const idKeyName = "space-id"

// Ring is unlocked. Its methods may be called at the same time. The keys that
// it hands out are its own, and end with [Ring.Close].
type Ring struct {
	*Locked
	mu       sync.Mutex
	ringKey  *seal.Key // closes ring.sealed
	master   *seal.Key
	device   ed25519.PrivateKey
	pair     *seal.Identity // the device's
	journal  *seal.Identity
	keys     map[string]*seal.Key
	sessions map[*VaultSession]struct{}
	closed   bool
}

// StoreKey is the master key, from which memory/store derives its own.
func (r *Ring) StoreKey() *seal.Key { return r.master }

// IDKey is the key of the ring's own space for memory.DeriveID.
func (r *Ring) IDKey() *seal.Key {
	k, _ := r.Key(idKeyName)
	return k
}

// MemoryID derives the id of what a plugin proposes of an event: the same on each
// device of the space.
func (r *Ring) MemoryID(ev memory.EventID, plugin, fingerprint string) memory.ID {
	return memory.DeriveID(r.IDKey().Bytes(), ev, plugin, fingerprint)
}

// SealToVault seals a secret to this device's vault and to recovery.
func (r *Ring) SealToVault(secret []byte) ([]byte, error) {
	return seal.SealToEach(secret, r.VaultRecipient(), r.Public().Recovery)
}

// JournalIdentity opens the journal.
func (r *Ring) JournalIdentity() *seal.Identity { return r.journal }

// DeviceIdentity opens what was sealed to this device.
func (r *Ring) DeviceIdentity() *seal.Identity { return r.pair }

// Key returns a named key: an epoch's, another space's.
func (r *Ring) Key(name string) (*seal.Key, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.keys[name]
	return k, ok
}

// SetKey keeps a copy of key under name, on disk when it returns. Another key
// of that name is replaced; who still uses it may go on.
func (r *Ring) SetKey(name string, key *seal.Key) error {
	b := key.Bytes()
	defer clear(b)
	own, err := seal.KeyFromBytes(b)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return memory.ErrLocked
	}
	keys := maps.Clone(r.keys)
	keys[name] = own.Hold()
	if err := r.writeSecrets(keys); err != nil {
		return err
	}
	r.keys = keys
	return nil
}

// writeSecrets writes ring.sealed with keys; under mu.
func (r *Ring) writeSecrets(keys map[string]*seal.Key) error {
	s := secrets{
		Public:  r.public,
		Master:  r.master.Bytes(),
		Device:  slices.Clone(r.device.Seed()),
		Pair:    r.pair.Seed().Bytes(),
		Journal: r.journal.Seed().Bytes(),
		Keys:    map[string][]byte{},
	}
	for name, k := range keys {
		s.Keys[name] = k.Bytes()
	}
	defer s.clear()
	return s.write(r.dir, r.ringKey)
}

// ChangePassphrase sets the passphrase, or changes it; u unlocks once more.
func (r *Ring) ChangePassphrase(ctx context.Context, u Unlocker, passphrase string) error {
	return r.rewrap(ctx, u, passphraseWrap{passphrase, scryptFactor})
}

// AddKeyFile makes the key file at path, or takes one that is there, as a way
// to unlock; u unlocks once more. A relative path starts at the ring's folder.
// The key file that was a way before is one no longer.
func (r *Ring) AddKeyFile(ctx context.Context, u Unlocker, path string) error {
	return r.rewrap(ctx, u, keyFileWrap{path})
}

// AddOSKeyring puts a key into the operating system's keyring, as a way to
// unlock; u unlocks once more.
func (r *Ring) AddOSKeyring(ctx context.Context, u Unlocker) error {
	return r.rewrap(ctx, u, osWrap{})
}

func (r *Ring) rewrap(ctx context.Context, u Unlocker, w wrapper) error {
	kek, err := r.kek(ctx, u)
	if err != nil {
		return err
	}
	defer kek.Zero()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return memory.ErrLocked
	}
	ringKey := kek.Derive(ringLabel)
	defer ringKey.Zero()
	if !ringKey.Equal(r.ringKey) {
		return fmt.Errorf("%w: %s closes another key", ErrSwapped, u.kind().file())
	}
	return w.wrap(r.dir, r.public.Ring, kek)
}

// RemoveWrap takes a way to unlock away. The last one is [ErrLastWrap]. The key
// file that Locket made inside the ring's folder is removed, others are left.
func (r *Ring) RemoveWrap(kind WrapKind) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return memory.ErrLocked
	}
	kinds, err := r.Wraps()
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains(kinds, kind):
		return fmt.Errorf("remove %s: %w", kind, ErrNoWrap)
	case len(kinds) == 1:
		return fmt.Errorf("remove %s: %w", kind, ErrLastWrap)
	}
	return removeWrap(r.dir, kind)
}

// Close zeroes every key, the vault sessions' too. Nothing that the ring gave
// out may be in use, and the keys among it not afterwards.
func (r *Ring) Close() error {
	r.mu.Lock()
	sessions := r.sessions
	r.sessions, r.closed = nil, true
	r.ringKey.Zero()
	r.master.Zero()
	clear(r.device)
	r.pair.Zero()
	r.journal.Zero()
	for _, k := range r.keys {
		k.Zero()
	}
	r.mu.Unlock()
	for v := range sessions {
		v.end()
	}
	return nil
}
