package envelope

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// FORMAT of a header: a CBOR map with all of these keys, in this order:
//
//	 1  u      version, 1
//	 2  b16    space
//	 3  b8     member
//	 4  u64    incarnation
//	 5  u64    seq, from 1
//	 6  b32    prev: SHA-256 of the previous header of the incarnation, or zeros
//	 7  b32    head: SHA-256 of the last log entry that the author knew
//	 8  u32    epoch whose key seals the body, from 1
//	 9  b32    SHA-256 of the body
//	10  u32    size of the body in bytes, from 1

// MaxHeader is a limit in bytes; the longest header has 177.
const MaxHeader = 192

// MaxBody is the largest sealed body, in bytes.
const MaxBody = 1 << 20

// Header says who sent a delta, at which place of the chain, and which log
// entry the author knew.
type Header struct {
	Version     uint64          `cbor:"1,keyasint"`
	Space       memory.SpaceID  `cbor:"2,keyasint"`
	Member      memory.MemberID `cbor:"3,keyasint"`
	Incarnation uint64          `cbor:"4,keyasint"`
	Seq         uint64          `cbor:"5,keyasint"`
	Prev        Hash            `cbor:"6,keyasint"`
	Head        Hash            `cbor:"7,keyasint"`
	Epoch       uint32          `cbor:"8,keyasint"`
	BodyHash    Hash            `cbor:"9,keyasint"`
	BodySize    uint32          `cbor:"10,keyasint"`
}

// ParseHeader parses what [Header.Bytes] returns. It returns [ErrForm] for
// anything else.
func ParseHeader(b []byte) (*Header, error) {
	h := new(Header)
	if err := decode(b, h, MaxHeader); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return h, nil
}

func (h *Header) check() error {
	switch {
	case h.Version != Version:
		return fmt.Errorf("%w: version %d, want %d", ErrForm, h.Version, Version)
	case h.Space.IsZero():
		return fmt.Errorf("%w: space: none", ErrForm)
	case h.Member == memory.MemberID{}:
		return fmt.Errorf("%w: member: none", ErrForm)
	case h.Seq == 0:
		return fmt.Errorf("%w: seq: starts at 1", ErrForm)
	case (h.Seq == 1) != h.Prev.IsZero():
		return fmt.Errorf("%w: prev: zeros for the first, and for no other", ErrForm)
	case h.Head.IsZero():
		return fmt.Errorf("%w: head: none", ErrForm)
	case h.Epoch == 0:
		return fmt.Errorf("%w: epoch: starts at 1", ErrForm)
	case h.BodySize == 0 || h.BodySize > MaxBody:
		return fmt.Errorf("%w: body of %d bytes, want 1 to %d", ErrForm, h.BodySize, MaxBody)
	}
	return nil
}

// Bytes returns the canonical form, which is signed and hashed.
func (h *Header) Bytes() []byte { return encode(h) }

// Hash returns the hash by which the next header of the chain names this one.
func (h *Header) Hash() Hash { return sha256.Sum256(h.Bytes()) }

// Context returns SHA-256 of the header with a body hash of zeros and a size
// of 0, which is known before the body is sealed. The sealed body repeats it,
// so that it fits no other header.
func (h *Header) Context() Hash {
	c := *h
	c.BodyHash, c.BodySize = Hash{}, 0
	return sha256.Sum256(c.Bytes())
}

// Position returns the header's place in its chain.
func (h *Header) Position() Position {
	return Position{Incarnation: h.Incarnation, Seq: h.Seq}
}

// Verify checks that key signed h. [Delta.Verify] also checks the body.
func (h *Header) Verify(key ed25519.PublicKey, sig []byte) error {
	if err := h.check(); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if !Verify(key, DomainDelta, h.Bytes(), sig) {
		return fmt.Errorf("header %s of %s: %w", h.Position(), h.Member, ErrSignature)
	}
	return nil
}

// Position is a place in a member's chains.
type Position struct {
	Incarnation uint64 `cbor:"1,keyasint" json:"incarnation"`
	Seq         uint64 `cbor:"2,keyasint" json:"seq"`
}

// String returns the incarnation in hexadecimal, a slash, and seq.
func (p Position) String() string { return fmt.Sprintf("%016x/%d", p.Incarnation, p.Seq) }
