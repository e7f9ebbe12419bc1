package keyring

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// Device holds the keys of a device that is going to join a space and has no ring yet.
type Device struct {
	ID   memory.MemberID
	sign ed25519.PrivateKey
	pair *seal.Identity
}

// NewDevice makes the keys.
func NewDevice() *Device {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	defer clear(seed)
	d := &Device{sign: ed25519.NewKeyFromSeed(seed), pair: seal.NewIdentity()}
	rand.Read(d.ID[:])
	return d
}

// Key is the public half of the key that the device signs with.
func (d *Device) Key() ed25519.PublicKey { return d.sign.Public().(ed25519.PublicKey) }

// Recipient is the public half of the pair that the device opens with.
func (d *Device) Recipient() *seal.Recipient { return d.pair.Recipient() }

// Open opens what was sealed to the device.
func (d *Device) Open(sealed []byte) ([]byte, error) { return seal.OpenWith(d.pair, sealed) }

// OpenEpochs opens keys of a space that were wrapped to the device.
func (d *Device) OpenEpochs(space memory.SpaceID, sealed []byte) (seal.Epochs, error) {
	return seal.OpenEpochs(d.pair, space, sealed)
}

// Zero erases the keys, unless a ring took them over.
func (d *Device) Zero() {
	clear(d.sign)
	d.pair.Zero()
}

// Joining is what is needed to make a ring for a space. Package sync/membership
// makes it from the space's log. Create takes over the device's keys and copies
// the others.
type Joining struct {
	Device   *Device
	Space    memory.SpaceID
	Root     ed25519.PublicKey
	Recovery *seal.Recipient
	Genesis  []byte      // wire form of the first log entry, which says the same
	Epochs   seal.Epochs // from 1 on; that of 1 is needed
}

// idKey returns the space's key for memory.DeriveID. It is derived from the
// first epoch's key, so every member that can read the space from its beginning
// has it.
func idKey(e seal.Epochs) (*seal.Key, error) {
	if e[1] == nil {
		return nil, errors.New("join a space: the key of its first epoch is missing")
	}
	return e[1].Derive("memory ids"), nil
}

func epochName(space memory.SpaceID, n uint32) string {
	return "epoch/" + space.String() + "/" + strconv.FormatUint(uint64(n), 10)
}

func copyKey(k *seal.Key) (*seal.Key, error) {
	b := k.Bytes()
	defer clear(b)
	return seal.KeyFromBytes(b)
}

// RawGenesis returns the first entry of the log of the ring's own space, as it
// is stored. Only the file is checked; membership.Genesis checks the entry
// against the ring.
func (l *Locked) RawGenesis() ([]byte, error) {
	path := filepath.Join(l.dir, genesisFile)
	b, err := readFile(path, genesisFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged(path, "gone")
	}
	return b, err
}

// Epoch returns the key of an epoch of a space.
func (r *Ring) Epoch(space memory.SpaceID, n uint32) (*seal.Key, bool) {
	return r.Key(epochName(space, n))
}

// KeepEpochs stores copies of keys. They are on the disk when it returns. It
// does not replace keys that are stored already.
func (r *Ring) KeepEpochs(space memory.SpaceID, e seal.Epochs) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return memory.ErrLocked
	}
	keys := maps.Clone(r.keys)
	for n, k := range e {
		name := epochName(space, n)
		if keys[name] != nil {
			continue
		}
		own, err := copyKey(k)
		if err != nil {
			return err
		}
		keys[name] = own.LockMemory()
	}
	if err := r.writeSecrets(keys); err != nil {
		return err
	}
	r.keys = keys
	return nil
}

// Sign signs msg as the device, for [Verify].
func (d *Device) Sign(domain string, msg []byte) ([]byte, error) {
	return SignWith(d.sign, domain, msg), nil
}

// SignRequest signs the base of an HTTP request (RFC 9421) as the device.
func (d *Device) SignRequest(base []byte) ([]byte, error) { return ed25519.Sign(d.sign, base), nil }

// SignRequest signs the base of an HTTP request (RFC 9421) as this device.
// After Close it returns [memory.ErrLocked]. A base begins with a quotation
// mark, and a message that is signed in a domain does not, so one signature
// can't be used as the other.
func (r *Ring) SignRequest(base []byte) ([]byte, error) {
	if len(base) == 0 || base[0] != '"' {
		return nil, fmt.Errorf("sign request: %w: not a signature base", memory.ErrInvalid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, memory.ErrLocked
	}
	return ed25519.Sign(r.device, base), nil
}

// SignRequest signs the base of an HTTP request as the root.
func (r *Recovery) SignRequest(base []byte) ([]byte, error) { return ed25519.Sign(r.root, base), nil }
