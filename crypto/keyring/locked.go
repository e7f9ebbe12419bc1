package keyring

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// RingID names a ring: 128 random bits.
type RingID [16]byte

// String is 32 hexadecimal characters.
func (id RingID) String() string { return hex.EncodeToString(id[:]) }

func (id RingID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

func (id *RingID) UnmarshalText(b []byte) error {
	v, err := hex.DecodeString(string(b))
	if err != nil || len(v) != len(id) {
		return fmt.Errorf("ring id %q: want 32 hexadecimal characters", b)
	}
	copy(id[:], v)
	return nil
}

// Public is what anyone who can read the folder can see.
type Public struct {
	Ring     RingID            `json:"ring"`
	Created  time.Time         `json:"created"`
	Space    memory.SpaceID    `json:"space"`    // the wearer's first own space
	Member   memory.MemberID   `json:"member"`   // this device in it
	Device   ed25519.PublicKey `json:"device"`   // signs for this device
	Pair     *seal.Recipient   `json:"pair"`     // seals to this device
	Root     ed25519.PublicKey `json:"root"`     // of the phrase
	Recovery *seal.Recipient   `json:"recovery"` // of the phrase
	Journal  *seal.Recipient   `json:"journal"`
	Vault    *seal.Recipient   `json:"vault"`
}

// check finds what a public file must have.
func (p *Public) check() error {
	switch {
	case p.Space.IsZero():
		return fmt.Errorf("no space")
	case len(p.Device) != ed25519.PublicKeySize || len(p.Root) != ed25519.PublicKeySize:
		return fmt.Errorf("signing keys have 32 bytes")
	case p.Pair == nil || p.Recovery == nil || p.Journal == nil || p.Vault == nil:
		return fmt.Errorf("a recipient is missing")
	}
	return nil
}

// differs names the first field in which p is not o.
func (p *Public) differs(o *Public) string {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"ring", p.Ring == o.Ring},
		{"created", p.Created.Equal(o.Created)},
		{"space", p.Space == o.Space},
		{"member", p.Member == o.Member},
		{"device", p.Device.Equal(o.Device)},
		{"pair", p.Pair.Equal(o.Pair)},
		{"root", p.Root.Equal(o.Root)},
		{"recovery", p.Recovery.Equal(o.Recovery)},
		{"journal", p.Journal.Equal(o.Journal)},
		{"vault", p.Vault.Equal(o.Vault)},
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}

// Locked is a ring of which only the public part was read.
type Locked struct {
	dir    string
	public *Public
}

// Open reads the public part of the ring in dir. It returns fs.ErrNotExist if
// there is no ring.
func Open(dir string) (*Locked, error) {
	path := filepath.Join(dir, publicFile)
	b, err := readFile(path, publicFile)
	if err != nil {
		return nil, fmt.Errorf("open keys: %w", err)
	}
	p := new(Public)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("open keys: %w", damaged(path, err.Error()))
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("open keys: %w", damaged(path, err.Error()))
	}
	return &Locked{dir, p}, nil
}

// Public returns what is known without a key. The caller must not change it.
func (l *Locked) Public() *Public { return l.public }

// JournalRecipient seals to the journal.
func (l *Locked) JournalRecipient() *seal.Recipient { return l.public.Journal }

// vaultRecipient seals to the vault.
func (l *Locked) vaultRecipient() *seal.Recipient { return l.public.Vault }

// Space is the wearer's first own space.
func (l *Locked) Space() memory.SpaceID { return l.public.Space }

// Member is this device in [Locked.Space].
func (l *Locked) Member() memory.MemberID { return l.public.Member }

// CheckPhrase returns [ErrPhrase] with the reason if phrase is not this ring's.
func (l *Locked) CheckPhrase(phrase string) error {
	rec, err := Recover(phrase)
	if err != nil {
		return err
	}
	defer rec.Zero()
	if !rec.Root().Equal(l.public.Root) {
		return fmt.Errorf("%w: the words are valid, but belong to other keys", ErrPhrase)
	}
	return nil
}

// Wraps lists the ways in which the ring can be unlocked.
func (l *Locked) Wraps() ([]WrapKind, error) {
	var kinds []WrapKind
	for _, k := range wrapKinds {
		ok, err := exists(filepath.Join(l.dir, k.file()))
		if err != nil {
			return nil, fmt.Errorf("list wraps: %w", err)
		}
		if ok {
			kinds = append(kinds, k)
		}
	}
	return kinds, nil
}

// Unlock opens the ring. It fails with [ErrWrongPassphrase], [ErrWrongKey],
// [ErrNoWrap], [ErrDamaged] or [ErrSwapped].
func (l *Locked) Unlock(ctx context.Context, u Unlocker) (*Ring, error) {
	kek, err := l.kek(ctx, u)
	if err != nil {
		return nil, err
	}
	defer kek.Zero()
	ringKey := kek.Derive(ringLabel)
	s, err := readSecrets(l.dir, l.public.Ring, ringKey)
	if err != nil {
		ringKey.Zero()
		return nil, fmt.Errorf("unlock: %w", err)
	}
	defer s.clear()
	r, err := s.ring(l, ringKey)
	if err != nil {
		return nil, fmt.Errorf("unlock: %w", err)
	}
	return r, nil
}

// Check reports whether u opens the ring, without opening it. It fails as Unlock does.
func (l *Locked) Check(ctx context.Context, u Unlocker) error {
	kek, err := l.kek(ctx, u)
	if err == nil {
		kek.Zero()
	}
	return err
}

func (l *Locked) kek(ctx context.Context, u Unlocker) (*seal.Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	kinds, err := l.Wraps()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(kinds, u.kind()) {
		return nil, fmt.Errorf("unlock by %s: %w", u.kind(), ErrNoWrap)
	}
	b, err := u.unwrap(l.dir, l.public.Ring)
	if err != nil {
		return nil, fmt.Errorf("unlock by %s: %w", u.kind(), err)
	}
	defer clear(b)
	path := filepath.Join(l.dir, u.kind().file())
	if len(b) != len(RingID{})+seal.KeySize {
		return nil, fmt.Errorf("unlock by %s: %w", u.kind(), damaged(path, "not a wrapped key"))
	}
	if RingID(b[:16]) != l.public.Ring {
		return nil, fmt.Errorf("unlock by %s: %w: %s is the wrap of ring %x, %s is of ring %s", u.kind(),
			ErrSwapped, path, b[:16], publicFile, l.public.Ring)
	}
	return seal.KeyFromBytes(b[16:])
}
