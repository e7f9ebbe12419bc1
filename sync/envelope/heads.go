package envelope

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// FORMAT of heads: a CBOR map with all of these keys
//
//	1  u    version, 1         5  b32    hash of the last log entry
//	2  b16  space              6  array  places, ascending by member, incarnation
//	3  b8   member             7  i64    seconds since 1970
//	4  u64  entries of the log
//
// On the wire: a CBOR array of bytes, b64 signature (domain "locket/v1 heads").

// MaxHeads is above the longest heads on the wire, in bytes.
const MaxHeads = MaxCheckpoint

// DomainHeads is that of what a member says of how far it has got.
const DomainHeads = "locket/v1 heads"

// Heads is how far a member has got: the log, and each chain. Two members who
// exchange them by another path than the relay find out whether it shows both
// the same.
type Heads struct {
	Version   uint64          `cbor:"1,keyasint"`
	Space     memory.SpaceID  `cbor:"2,keyasint"`
	Member    memory.MemberID `cbor:"3,keyasint"`
	Log       uint64          `cbor:"4,keyasint"`
	Head      Hash            `cbor:"5,keyasint"`
	Places    []Place         `cbor:"6,keyasint"`
	At        int64           `cbor:"7,keyasint"` // s since 1970-01-01 UTC, by the member's clock
	Signature []byte          `cbor:"-"`
}

// ParseHeads reads what [Heads.Bytes] gives. Nothing is verified yet.
func ParseHeads(b []byte) (*Heads, error) {
	h := new(Heads)
	if err := parseSigned(b, h, &h.Signature, MaxHeads); err != nil {
		return nil, fmt.Errorf("heads: %w", err)
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("heads: %w", err)
	}
	return h, nil
}

func (h *Heads) check() error {
	switch {
	case h.Version != Version:
		return fmt.Errorf("%w: version %d, want %d", ErrForm, h.Version, Version)
	case h.Space.IsZero() || h.Member == memory.MemberID{} || h.Head.IsZero() || h.Log == 0:
		return fmt.Errorf("%w: space, member, log and head are needed", ErrForm)
	case len(h.Places) > MaxPlaces:
		return fmt.Errorf("%w: %d places, at most %d", ErrForm, len(h.Places), MaxPlaces)
	}
	return checkPlaces(h.Places)
}

// Sign fills in the signature.
func (h *Heads) Sign(sign Signer) (err error) {
	h.Version = Version
	if h.Places == nil {
		h.Places = []Place{}
	}
	if err := h.check(); err != nil {
		return fmt.Errorf("sign heads: %w", err)
	}
	h.Signature, err = sign(DomainHeads, encode(h))
	return err
}

// Bytes is the wire form.
func (h *Heads) Bytes() []byte {
	return encode(wireSigned{Message: encode(h), Signature: h.Signature})
}

// HeadsPrefix begins the text form of heads: base64url of the wire form.
const HeadsPrefix = "locket-heads-1."

// String is the text form, which people pass on.
func (h *Heads) String() string {
	return HeadsPrefix + base64.RawURLEncoding.EncodeToString(h.Bytes())
}

// ParseHeadsText reads the text form, with or without white space around and
// within it. It fails with [ErrForm].
func ParseHeadsText(s string) (*Heads, error) {
	text, ok := strings.CutPrefix(strings.Join(strings.Fields(s), ""), HeadsPrefix)
	if !ok {
		return nil, fmt.Errorf("heads: %w: they begin with %s", ErrForm, HeadsPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("heads: %w: they are cut short, or changed", ErrForm)
	}
	return ParseHeads(b)
}

// AcceptsHeads checks that a living member said h of this space, and that its
// log is this one, as far as both go: [ErrRule], [ErrSignature], a [*ForkError]
// where the logs are two. A member that this log does not have yet is
// [ErrUnknownHead] where h's log is longer.
func (s *State) AcceptsHeads(h *Heads) error {
	fail := func(err error, why string) error {
		return fmt.Errorf("heads of %s: %w: %s", h.Member, err, why)
	}
	if h.Space != s.space || s.N() == 0 {
		return fail(ErrRule, "of another space")
	}
	m := s.members[h.Member]
	if m == nil && h.Log > s.N() {
		return fail(ErrUnknownHead, "this log does not have its member yet")
	}
	if m == nil || m.until != 0 {
		return fail(ErrRule, "no member")
	}
	if !Verify(m.Key, DomainHeads, encode(h), h.Signature) {
		return fail(ErrSignature, "the member's")
	}
	if h.Log <= s.N() && s.entries[h.Log-1].hash != h.Head {
		return &ForkError{What: "log", At: h.Log, Ours: s.entries[h.Log-1].hash, Theirs: h.Head}
	}
	return nil
}
