package envelope

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// FORMAT of heads: a CBOR map with all of these keys:
//
//	1  u    version, 1         5  b32    hash of the last log entry
//	2  b16  space              6  array  places, ascending by member, incarnation
//	3  b8   member             7  i64    seconds since 1970
//	4  u64  entries of the log
//
// On the wire: a CBOR array of bytes, b64 signature (domain "locket/v1 heads").

// MaxHeads is the greatest length of heads on the wire, in bytes.
const MaxHeads = MaxCheckpoint

// DomainHeads is the domain under which heads are signed.
const DomainHeads = "locket/v1 heads"

// Heads says how far a member has read the log and each chain. Two members can
// exchange heads by another path than the relay, and so find out whether the
// relay shows both the same.
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

// parseHeads parses what [Heads.Bytes] returns. It verifies nothing.
func parseHeads(b []byte) (*Heads, error) {
	h := new(Heads)
	return parseSigned("heads", b, h, &h.Signature, MaxHeads)
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

// Bytes returns the wire form.
func (h *Heads) Bytes() []byte {
	return encode(wireSigned{Message: encode(h), Signature: h.Signature})
}

// HeadsPrefix is the beginning of the text form of heads. The base64url of the
// wire form follows it.
const HeadsPrefix = "locket-heads-1."

// String returns the text form, which people can send to each other.
func (h *Heads) String() string {
	return HeadsPrefix + base64.RawURLEncoding.EncodeToString(h.Bytes())
}

// ParseHeadsText parses the text form. It ignores white space. It returns
// [ErrForm].
func ParseHeadsText(s string) (*Heads, error) {
	text, ok := strings.CutPrefix(strings.Join(strings.Fields(s), ""), HeadsPrefix)
	if !ok {
		return nil, fmt.Errorf("heads: %w: they begin with %s", ErrForm, HeadsPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("heads: %w: they are cut short, or changed", ErrForm)
	}
	return parseHeads(b)
}

// AcceptsHeads checks that a present member of this space signed h, and that
// h's log and this log are equal as far as both reach. Errors: [ErrRule],
// [ErrSignature], a [*ForkError] if the logs differ, and [ErrUnknownHead] if
// this log does not know the member and h's log is longer.
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
