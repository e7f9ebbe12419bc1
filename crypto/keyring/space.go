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
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Device is the keys of a device that is to join a space, before it has a ring.
type Device struct {
	ID   memory.MemberID
	sign ed25519.PrivateKey
	pair *seal.Identity
}

// NewDevice makes them.
func NewDevice() *Device {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	defer clear(seed)
	d := &Device{sign: ed25519.NewKeyFromSeed(seed), pair: seal.NewIdentity()}
	rand.Read(d.ID[:])
	return d
}

// Member is what a membership log says of the device, in a role.
func (d *Device) Member(role envelope.Role) envelope.Member {
	return envelope.Member{ID: d.ID, Key: d.sign.Public().(ed25519.PublicKey), Recipient: d.pair.Recipient().String(), Role: role}
}

// NameLabel is that of a member's name in the log (seal.SealNote).
const NameLabel = "member name"

// NotePlace is what a name or a grant in the log is bound to.
func NotePlace(space memory.SpaceID, member memory.MemberID) []byte {
	return append(append(make([]byte, 0, len(space)+len(member)), space[:]...), member[:]...)
}

// Named is [Device.Member], with a name sealed for the members of a space in an
// epoch whose key is given. An empty name is none.
func (d *Device) Named(role envelope.Role, name string, space memory.SpaceID, epoch uint32, key *seal.Key) envelope.Member {
	m := d.Member(role)
	if name != "" {
		m.Name = seal.SealNote(NameLabel, []byte(name), NotePlace(space, m.ID), epoch, key)
	}
	return m
}

// Open opens what was sealed to the device.
func (d *Device) Open(sealed []byte) ([]byte, error) { return seal.OpenWith(d.pair, sealed) }

// OpenEpochs opens keys of a space that were wrapped to the device.
func (d *Device) OpenEpochs(space memory.SpaceID, sealed []byte) (seal.Epochs, error) {
	return seal.OpenEpochs(d.pair, space, sealed)
}

// Zero ends the keys, where no ring took them.
func (d *Device) Zero() {
	clear(d.sign)
	d.pair.Zero()
}

// Joining is what makes a ring for a space that is there. Create takes the
// device's keys over, and copies the others.
type Joining struct {
	Device  *Device
	Genesis []byte      // wire form of the first log entry
	Epochs  seal.Epochs // from 1 on; that of 1 is needed
}

// check gives the first entry, signed by its own root.
func (j *Joining) check() (*envelope.Entry, error) {
	if j.Device == nil {
		return nil, errors.New("join a space: no device")
	}
	return parseGenesis(j.Genesis)
}

func parseGenesis(b []byte) (*envelope.Entry, error) {
	e, err := envelope.ParseEntry(b)
	if err != nil {
		return nil, err
	}
	return e, new(envelope.State).Append(e)
}

// found makes a space, and its first device: the phrase signs for both, here
// and never again, so that syncing needs no phrase.
func found(rec *Recovery, name string, now time.Time) (*Joining, error) {
	if now.IsZero() {
		now = time.Now()
	}
	d := NewDevice()
	epochs := seal.Epochs{1: seal.NewKey()}
	m := d.Named(envelope.Owner, name, rec.Space(), 1, epochs[1])
	e := &envelope.Entry{Version: envelope.Version, Space: rec.Space(), N: 1, Action: envelope.Found, At: now.Unix(), Epoch: 1,
		Root: rec.Root(), Recovery: rec.Identity().Recipient().String(), Member: &m}
	for _, w := range []struct {
		to  memory.MemberID
		key *seal.Recipient
	}{{memory.MemberID{}, rec.Identity().Recipient()}, {d.ID, d.pair.Recipient()}} { // ascending: recovery is zero
		keys, err := seal.SealEpochs(w.key, e.Space, epochs)
		if err != nil {
			return nil, err
		}
		e.Wraps = append(e.Wraps, envelope.Wrap{To: w.to, Keys: keys})
	}
	if err := e.Sign(rec.signer); err != nil {
		return nil, err
	}
	return &Joining{Device: d, Genesis: e.Bytes(), Epochs: epochs}, nil
}

func (r *Recovery) signer(domain string, msg []byte) ([]byte, error) { return r.Sign(domain, msg), nil }

// idKey is the space's key for memory.DeriveID. It follows from the first
// epoch's, so that whoever can read the space from its beginning has it.
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

// Genesis is the wire form of the first entry of the ring's own space's log.
func (l *Locked) Genesis() ([]byte, error) {
	path := filepath.Join(l.dir, genesisFile)
	b, err := readFile(path, genesisFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged(path, "gone")
	}
	if err != nil {
		return nil, err
	}
	e, err := parseGenesis(b)
	if err != nil {
		return nil, damaged(path, err.Error())
	}
	if e.Space != l.public.Space || !l.public.Root.Equal(ed25519.PublicKey(e.Root)) {
		return nil, fmt.Errorf("%w: %s: of another space or root", ErrSwapped, path)
	}
	return b, nil
}

// Epoch gives the key of an epoch of a space.
func (r *Ring) Epoch(space memory.SpaceID, n uint32) (*seal.Key, bool) {
	return r.Key(epochName(space, n))
}

// KeepEpochs keeps copies of keys, on disk when it returns. One that is there
// already stays.
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
		keys[name] = own.Hold()
	}
	if err := r.writeSecrets(keys); err != nil {
		return err
	}
	r.keys = keys
	return nil
}

// Sign signs msg as the device, for [Verify].
func (d *Device) Sign(domain string, msg []byte) ([]byte, error) {
	return sign(d.sign, domain, msg), nil
}

// SignRequest signs the base of an HTTP request (RFC 9421) as the device.
func (d *Device) SignRequest(base []byte) ([]byte, error) { return ed25519.Sign(d.sign, base), nil }

// SignRequest signs the base of an HTTP request (RFC 9421) as this device; after
// Close it fails with [memory.ErrLocked]. A base begins with a quotation mark,
// what is signed in a domain does not: neither passes for the other.
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
