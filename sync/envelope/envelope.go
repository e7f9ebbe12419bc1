// Package envelope is what a relay may read of a space: signed headers around
// sealed bodies, and the signed log of who belongs. It checks; it opens
// nothing, and imports nothing that could.
//
// The words:
//
//   - A [Delta] is one thing that a member sends: a [Header], its signature,
//     and a sealed body. The body can be taken away later; the header stays.
//   - A chain is the headers of one member's incarnation, each of which names
//     the hash of the one before it. A [Position] is a place in one.
//   - An incarnation is one life of a member's state. Who restores a backup
//     takes a new one, and so can't answer for what the old one went on to say.
//   - The membership log is the [Entry] list of a space, linked by hashes. A
//     [State] is what follows from it: members, roles, epoch.
//   - An epoch is the span in which one key seals bodies. Who is removed gets
//     no key of the next.
//   - The root is the key of the recovery phrase: it founds the space, and
//     outranks every member.
//   - A fork is two histories that one author signed, or two logs of one
//     space. It is never mended here: both heads are named.
//
// The bytes are in FORMAT.md. Values are safe for concurrent reading.
package envelope

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/sync/canonical"
)

// What callers can tell apart. Each is wrapped with what was being checked.
var (
	// ErrForm: not the one form of these bytes, or a limit is passed.
	ErrForm = errors.New("malformed")
	// ErrSignature: the signature is not that key's, over these bytes.
	ErrSignature = errors.New("signature does not hold")
	// ErrBody: the body is not the one that the header names.
	ErrBody = errors.New("body is not the signed one")
	// ErrGap: what comes before is missing.
	ErrGap = errors.New("earlier ones are missing")
	// ErrChains: its author has begun as many chains in the space as a member
	// may, [MaxIncarnations].
	ErrChains = errors.New("its author has begun as many chains as one may")
	// ErrKnown: the same one was taken already. Nothing is wrong.
	ErrKnown = errors.New("known already")
	// ErrRule: well-formed and signed, but its author may not do this.
	ErrRule = errors.New("not allowed")
	// ErrLate: its author was removed before it. It is [ErrRule], too.
	ErrLate = fmt.Errorf("%w: too late", ErrRule)
	// ErrFormer: it counted until its author was removed. It is [ErrRule], too.
	ErrFormer = fmt.Errorf("%w: its author was removed", ErrRule)
	// ErrUnknownHead: it speaks of a log entry that isn't here yet.
	ErrUnknownHead = errors.New("log head is not known")
)

// Version of every form in this package.
const Version = 1

// Hash is SHA-256.
type Hash [sha256.Size]byte

// String is 64 hexadecimal characters.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(h) {
		return fmt.Errorf("%w: hash %q: want 64 hexadecimal characters", ErrForm, b)
	}
	if _, err := hex.Decode(h[:], b); err != nil {
		return fmt.Errorf("%w: hash %q: %v", ErrForm, b, err)
	}
	return nil
}

// IsZero reports whether h stands for nothing before.
func (h Hash) IsZero() bool { return h == Hash{} }

// ForkError says that there are two histories where there must be one.
type ForkError struct {
	What   string // "log", or "member <id>"
	At     uint64 // the number at which they differ
	Ours   Hash   // of what is known here
	Theirs Hash   // of what came
}

// Error names both heads.
func (e *ForkError) Error() string {
	return fmt.Sprintf("fork of %s at %d: here %s, there %s", e.What, e.At, e.Ours, e.Theirs)
}

// The domains of what is signed.
const (
	DomainDelta = "locket/v1 delta"
	DomainLog   = "locket/v1 log"
)

// Signer signs msg in a domain, as the one whose key it holds: a ring's
// DeviceSign is one.
type Signer func(domain string, msg []byte) ([]byte, error)

// KeySigner signs with a key in memory.
func KeySigner(key ed25519.PrivateKey) Signer {
	return func(domain string, msg []byte) ([]byte, error) { return ed25519.Sign(key, signed(domain, msg)), nil }
}

// Verify reports whether sig is key's signature of msg in domain.
func Verify(key ed25519.PublicKey, domain string, msg, sig []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, signed(domain, msg), sig)
}

// signed is what Ed25519 sees; package keyring makes the same bytes.
func signed(domain string, msg []byte) []byte {
	b := append([]byte("locket/v1 sign"), 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(domain)))
	return append(append(b, domain...), msg...)
}

var decoding = canonical.Reader(canonical.Limits{Levels: 6, Items: MaxPlaces, Pairs: 32})

// encode never fails for the types of this package.
func encode(v any) []byte { return canonical.Must(canonical.Encoding.Marshal(v)) }

// decode reads the one form of v: what it gives must encode to b again, so
// that a hash of a meaning is a hash of its bytes.
func decode(b []byte, v any, limit int) error {
	if len(b) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrForm, len(b), limit)
	}
	if err := decoding.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %v", ErrForm, err)
	}
	if !bytes.Equal(encode(v), b) {
		return fmt.Errorf("%w: not in canonical form", ErrForm)
	}
	return nil
}
