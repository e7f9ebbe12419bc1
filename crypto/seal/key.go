// Package seal closes values with keys: symmetric ones for what lies in a
// store, key pairs for what is taken in while the private half is away.
//
// The words:
//
//   - A [Key] is 32 secret bytes. It never prints, and ends with [Key.Zero].
//   - To seal is to encrypt so that no changed byte passes: XChaCha20-Poly1305
//     under a Key, or an age file to a [Recipient].
//   - The associated data (ad) is what a sealed value is bound to, such as its
//     place and version; it is not stored, and must be the same at the opening.
//   - A [Recipient] is the public half of a key pair, an [Identity] the private.
package seal

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"

	"github.com/locket-dev/locket/internal/lockedmem"
)

var (
	// ErrOpen: what was sealed does not open: changed, cut short, bound to
	// something else, or sealed for another key.
	ErrOpen = errors.New("seal does not open")
	// ErrSecret: a secret was about to be written out as text.
	ErrSecret = errors.New("a secret is not text")
	// ErrZeroed: the key has ended.
	ErrZeroed = errors.New("key is zeroed")
)

// KeySize of a [Key], in bytes.
const KeySize = 32

// Key is a symmetric secret. Copies share the secret, so that Zero ends them
// all. Its methods may be called at the same time, except Zero.
type Key struct{ s *secret }

// secret lies behind two pointers: fmt follows one, for a wrong verb, in a
// struct whose field it may not ask how to print itself.
type secret struct {
	b    *[KeySize]byte
	gone bool
	held bool // b is a slot of package held
}

func emptyKey() *Key { return &Key{&secret{b: new([KeySize]byte)}} }

// NewKey makes a random key.
func NewKey() *Key {
	k := emptyKey()
	rand.Read(k.s.b[:]) // never fails, from Go 1.24 on
	return k
}

// KeyFromBytes copies 32 bytes; another length is [ErrOpen].
func KeyFromBytes(b []byte) (*Key, error) {
	if len(b) != KeySize {
		return nil, fmt.Errorf("%w: key of %d bytes, want %d", ErrOpen, len(b), KeySize)
	}
	k := emptyKey()
	copy(k.s.b[:], b)
	return k, nil
}

// Bytes returns a copy of the secret, for the few callers that seal a key
// itself or hand it to a library. The caller clears it.
func (k *Key) Bytes() []byte { return append([]byte(nil), k.use()...) }

// Equal compares in constant time. A zeroed key equals none.
func (k *Key) Equal(o *Key) bool {
	return k.alive() && o.alive() && subtle.ConstantTimeCompare(k.s.b[:], o.s.b[:]) == 1
}

// Zero overwrites the secret. The key can't be used afterwards; a second Zero
// does nothing. It must not run beside another method.
func (k *Key) Zero() {
	if k == nil || k.s == nil || k.s.gone {
		return
	}
	clear(k.s.b[:])
	k.s.gone = true
	if k.s.held {
		lockedmem.Put(k.s.b)
		k.s.b = new([KeySize]byte)
	}
}

func (k *Key) alive() bool { return k != nil && k.s != nil && !k.s.gone }

// use panics on a zeroed key: to go on would be to seal under zeros.
func (k *Key) use() []byte {
	if !k.alive() {
		panic("seal: use of a zeroed key")
	}
	return k.s.b[:]
}

// Derive gives the key for one use, named by label, by HKDF-SHA-256 (RFC
// 5869) without salt. Labels are constants of their callers, "store values";
// different labels give independent keys.
func (k *Key) Derive(label string) *Key {
	b, err := hkdf.Key(sha256.New, k.use(), nil, "locket/v1 derive\x00"+label, KeySize)
	if err != nil { // only for a length over 255 hashes, or in FIPS mode for a short key
		panic("seal: derive: " + err.Error())
	}
	d, _ := KeyFromBytes(b)
	clear(b)
	return d
}

// MAC is HMAC-SHA-256 over label and parts, each preceded by its length as
// a big-endian u64, so that no two lists of parts are alike.
func (k *Key) MAC(label string, parts ...[]byte) [32]byte {
	m := hmac.New(sha256.New, k.use())
	var n [8]byte
	field := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		m.Write(n[:])
		m.Write(b)
	}
	field([]byte("locket/v1 mac"))
	field([]byte(label))
	for _, p := range parts {
		field(p)
	}
	var sum [32]byte
	m.Sum(sum[:0])
	return sum
}

const hidden = "[secret]"

// Format implements fmt.Formatter: every verb prints the same word.
func (k Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, hidden) }

// LogValue implements slog.LogValuer.
func (k Key) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText refuses with [ErrSecret], and with it JSON and the like.
func (k Key) MarshalText() ([]byte, error) { return nil, ErrSecret }

// MarshalBinary refuses with [ErrSecret], and with it CBOR and gob.
func (k Key) MarshalBinary() ([]byte, error) { return nil, ErrSecret }
