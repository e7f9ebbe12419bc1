// Package envelope defines what a relay may read of a space: signed headers
// around sealed bodies, and the signed log of the members. It checks signatures
// and rules. It decrypts nothing, and imports no package that could.
//
// The words:
//
//   - A [Delta] is the unit that a member sends: a [Header], its signature, and
//     a sealed body. The body can be removed later; the header stays.
//   - A chain is the headers of one incarnation of a member. Each header names
//     the hash of the one before it. A [Position] is a place in a chain.
//   - An incarnation is one life of a member's state. A restored backup begins
//     a new incarnation, because it does not know what the old one sent after
//     the backup.
//   - The membership log is the list of [Entry] values of a space, linked by
//     hashes. A [State] is what follows from the log: members, roles, epoch.
//   - An epoch is the time in which one key seals bodies. A removed member does
//     not get the key of the next epoch.
//   - The root is the key of the recovery phrase. It founds the space and may
//     do more than any member.
//   - A fork is two histories that one author signed, or two logs of one space.
//     A fork is never repaired; the error names both heads.
//
// The bytes are in FORMAT.md. Values are safe for concurrent reading.
package envelope

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/sync/canonical"
)

// Callers can distinguish these errors. Each is wrapped with the name of what
// was checked.
var (
	// ErrForm: the bytes are not in the canonical form, or exceed a limit.
	ErrForm = errors.New("malformed")
	// ErrSignature: the signature over these bytes was not made by that key.
	ErrSignature = errors.New("the signature is not valid")
	// ErrBody: the body is not the one that the header names.
	ErrBody = errors.New("body is not the signed one")
	// ErrGap: something that comes before is missing.
	ErrGap = errors.New("earlier ones are missing")
	// ErrChains: the author has begun [MaxIncarnations] chains in the space,
	// which is the limit for a member.
	ErrChains = errors.New("its author has begun the most chains that a member may have")
	// ErrKnown: the same value was taken before. This is no fault.
	ErrKnown = errors.New("known already")
	// ErrRule: the value is well-formed and signed, but its author may not do
	// this.
	ErrRule = errors.New("not allowed")
	// ErrLate: the author was removed before this. It wraps [ErrRule].
	ErrLate = fmt.Errorf("%w: too late", ErrRule)
	// ErrFormer: this counted until its author was removed. It wraps [ErrRule].
	ErrFormer = fmt.Errorf("%w: its author was removed", ErrRule)
	// ErrUnknownHead: the value names a log entry that is not here yet.
	ErrUnknownHead = errors.New("log head is not known")
)

// Version of every form in this package.
const Version = 1

// Hash is SHA-256.
type Hash [sha256.Size]byte

// String returns 64 hexadecimal characters.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

func (h *Hash) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(h) {
		return fmt.Errorf("%w: hash %q: want 64 hexadecimal characters", ErrForm, b)
	}
	if _, err := hex.Decode(h[:], b); err != nil {
		return fmt.Errorf("%w: hash %q: %v", ErrForm, b, err)
	}
	return nil
}

// IsZero reports whether h is the zero hash, which stands for no predecessor.
func (h Hash) IsZero() bool { return h == Hash{} }

// ForkError says that there are two histories where only one may exist.
type ForkError struct {
	What   string // "log", or "member <id>"
	At     uint64 // the first number at which they are known to differ
	Ours   Hash   // hash that is known here
	Theirs Hash   // hash that came
}

// Error names both heads.
func (e *ForkError) Error() string {
	return fmt.Sprintf("fork of %s at %d: here %s, there %s", e.What, e.At, e.Ours, e.Theirs)
}

// The domains under which deltas and log entries are signed.
const (
	DomainDelta = "locket/v1 delta"
	DomainLog   = "locket/v1 log"
)

// Signer signs msg in a domain with the key that it holds. A ring's DeviceSign
// is a Signer.
type Signer func(domain string, msg []byte) ([]byte, error)

// KeySigner returns a Signer for a key in memory.
func KeySigner(key ed25519.PrivateKey) Signer {
	return func(domain string, msg []byte) ([]byte, error) { return ed25519.Sign(key, signed(domain, msg)), nil }
}

// Verify reports whether sig is key's signature of msg in domain.
func Verify(key ed25519.PublicKey, domain string, msg, sig []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, signed(domain, msg), sig)
}

// signed returns the bytes that Ed25519 signs; package keyring makes the same
// bytes.
func signed(domain string, msg []byte) []byte {
	b := append([]byte("locket/v1 sign"), 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(domain)))
	return append(append(b, domain...), msg...)
}

var decoding = canonical.Reader(canonical.Limits{Levels: 6, Items: MaxPlaces, Pairs: 32})

// encode never fails for the types of this package.
func encode(v any) []byte { return canonical.Encode(v) }

// decode parses the canonical form of v.
func decode(b []byte, v any, limit int) error {
	if len(b) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrForm, len(b), limit)
	}
	return canonical.Decode(b, v, decoding, ErrForm)
}
