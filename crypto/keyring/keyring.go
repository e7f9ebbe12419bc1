// Package keyring keeps a node's keys in a folder.
//
// The words:
//
//   - The key-encryption key (KEK) is random, and opens the folder's sealed
//     files. It is in memory only while one of them is opened.
//   - A wrap is the KEK, encrypted by a passphrase, by a key file, or by a key
//     in the operating system's keyring. A wrap can be changed without touching
//     what the KEK encrypts. An old copy of a wrap still works after that.
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
	// ErrWrongPassphrase: the passphrase is wrong for this ring.
	ErrWrongPassphrase = errors.New("wrong passphrase")
	// ErrWrongKey: the key file, or the key in the OS keyring, is another one.
	ErrWrongKey = errors.New("wrong key")
	// ErrNoWrap: the ring has no wrap of this kind.
	ErrNoWrap = errors.New("no such way to unlock")
	// ErrLastWrap: without this wrap, the ring could never be unlocked again.
	ErrLastWrap = errors.New("the last way to unlock can't be removed")
	// ErrDamaged: a file is truncated or changed; the wrapping error names it.
	ErrDamaged = errors.New("damaged")
	// ErrSwapped: a public key was replaced by another one; the wrapping error
	// names it.
	ErrSwapped = errors.New("exchanged")
	// ErrPhrase: the text is not a valid phrase of 24 words; the wrapping error
	// says why.
	ErrPhrase = errors.New("recovery phrase")
	// ErrVaultClosed: the vault session has ended.
	ErrVaultClosed = errors.New("vault is closed")
)

// idKeyName is the name of the key that memory.DeriveID needs in the ring's own
// space.
const idKeyName = "space-id"

// Ring is an unlocked ring. Its methods are safe for concurrent use. The keys
// that it returns belong to it, and are erased by [Ring.Close].
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

// IDKey returns the key of the ring's own space for memory.DeriveID.
func (r *Ring) IDKey() *seal.Key {
	k, _ := r.Key(idKeyName)
	return k
}

// MemoryID derives the id of a memory that a plugin proposes from an event. It
// is the same on each device of the space.
func (r *Ring) MemoryID(ev memory.EventID, plugin, fingerprint string) memory.ID {
	return memory.DeriveID(r.IDKey().Bytes(), ev, plugin, fingerprint)
}

// SealToVault seals a secret to this device's vault and to recovery.
func (r *Ring) SealToVault(secret []byte) ([]byte, error) {
	return seal.SealToEach(secret, r.vaultRecipient(), r.Public().Recovery)
}

// JournalIdentity returns the identity that opens the event journal.
func (r *Ring) JournalIdentity() *seal.Identity { return r.journal }

// DeviceIdentity returns the identity that opens what was sealed to this
// device.
func (r *Ring) DeviceIdentity() *seal.Identity { return r.pair }

// Key returns a key by its name, such as the key of an epoch or of another
// space.
func (r *Ring) Key(name string) (*seal.Key, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.keys[name]
	return k, ok
}

// SetKey stores a copy of key under name. It is on the disk when SetKey
// returns. An earlier key of that name is replaced; callers that still have it
// may go on using it.
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
	keys[name] = own.LockMemory()
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

// ChangePassphrase sets or changes the passphrase. It unlocks the ring again
// with u.
func (r *Ring) ChangePassphrase(ctx context.Context, u Unlocker, passphrase string) error {
	return r.rewrap(ctx, u, passphraseWrap{passphrase, scryptFactor})
}

// AddKeyFile makes a key file at path, or uses an existing one, as a way to
// unlock. It unlocks the ring again with u. A relative path starts at the
// ring's folder. An earlier key file can no longer unlock the ring.
func (r *Ring) AddKeyFile(ctx context.Context, u Unlocker, path string) error {
	return r.rewrap(ctx, u, keyFileWrap{path})
}

// AddOSKeyring stores a key in the operating system's keyring, as a way to
// unlock. It unlocks the ring again with u.
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
		return fmt.Errorf("%w: %s wraps another key", ErrSwapped, u.kind().file())
	}
	return w.wrap(r.dir, r.public.Ring, kek)
}

// RemoveWrap removes a way to unlock. For the last one it returns
// [ErrLastWrap]. It deletes a key file that Locket made inside the ring's
// folder, and leaves others.
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

// Close erases every key, including those of vault sessions. Nothing that the
// ring returned may be in use, and its keys must not be used afterwards.
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
