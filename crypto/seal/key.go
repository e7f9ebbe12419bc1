// Package seal encrypts values: with symmetric keys for what lies in a store,
// and with key pairs for what has to be stored while the private key is not
// available.
//
// The words:
//
//   - A [Key] is 32 secret bytes. It is never printed, and [Key.Zero] erases
//     it.
//   - To seal is to encrypt so that every changed byte is detected:
//     XChaCha20-Poly1305 with a Key, or an age file to a [Recipient].
//   - The associated data (ad) is what a sealed value is bound to, such as its
//     place and version. It is not stored, and must be the same when the value
//     is opened.
//   - A [Recipient] is the public half of a key pair, an [Identity] the private
//     half.
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
	// ErrOpen: a sealed value can't be opened. It was changed, truncated, bound
	// to other data, or sealed with another key.
	ErrOpen = errors.New("seal does not open")
	// ErrSecret: the program tried to write a secret as text.
	ErrSecret = errors.New("a secret is not text")
	// ErrZeroed: the key was erased.
	ErrZeroed = errors.New("key is zeroed")
)

// KeySize of a [Key], in bytes.
const KeySize = 32

// Key is a symmetric secret. Copies share the secret, so Zero erases it for all
// of them. Its methods are safe for concurrent use, except Zero.
type Key struct{ s *secret }

// secret is behind two pointers, because fmt follows one pointer if a wrong
// verb is used for a struct whose field can't format itself.
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

// KeyFromBytes copies 32 bytes. For another length it returns [ErrOpen].
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

// Zero erases the secret. The key can't be used afterwards. A second Zero does
// nothing. Zero must not run at the same time as another method.
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

// use panics if the key was erased, because otherwise data would be sealed with
// a key of zeros.
func (k *Key) use() []byte {
	if !k.alive() {
		panic("seal: use of a zeroed key")
	}
	return k.s.b[:]
}

// Derive returns the key for one use, named by label, by HKDF-SHA-256 (RFC
// 5869) without salt. Labels are constants in the callers, such as "store
// values". Different labels give independent keys.
func (k *Key) Derive(label string) *Key {
	b, err := hkdf.Key(sha256.New, k.use(), nil, "locket/v1 derive\x00"+label, KeySize)
	if err != nil { // only for a length over 255 hashes, or in FIPS mode for a short key
		panic("seal: derive: " + err.Error())
	}
	d, _ := KeyFromBytes(b)
	clear(b)
	return d
}

// MAC returns the HMAC-SHA-256 of label and parts. Each is preceded by its
// length as a big-endian u64, so that different lists of parts never give the
// same input.
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

func (k Key) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText refuses with [ErrSecret], and with it JSON and the like.
func (k Key) MarshalText() ([]byte, error) { return nil, ErrSecret }

// MarshalBinary refuses with [ErrSecret], and with it CBOR and gob.
func (k Key) MarshalBinary() ([]byte, error) { return nil, ErrSecret }
