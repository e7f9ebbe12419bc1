package envelope

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// FORMAT of a checkpoint: a CBOR map with all of these keys:
//
//	 1  u      version, 1              6  i64    seconds since 1970
//	 2  b16    space                   7  u64    cursor, from 1
//	 3  b8     author                  8  array  places, ascending by member, incarnation
//	 4  b32    head of the log         9  b32    SHA-256 of the sealed manifest
//	 5  u32    epoch in force there   10  u32    its size in bytes
//
// of a place: {1: b8 member, 2: u64 incarnation, 3: u64 seq, 4: b32 hash}; and of a vote:
//
//	1  u    version, 1      3  b8   member      5  u    1 agree, 2 object
//	2  b16  space           4  b32  checkpoint  6  b32  head of the log
//
// On the wire: a CBOR array of bytes, b64 signature (domains
// "locket/v1 checkpoint", "locket/v1 vote").

// Limits.
const (
	MaxPlaces     = 8 * MaxIncarnations // chains that a checkpoint covers: enough for several members at their limit and all others
	MaxCheckpoint = 72 << 10            // bytes on the wire: a place has at most 66
	MaxVote       = 256                 // bytes on the wire
)

// The domains under which checkpoints and votes are signed.
const (
	DomainCheckpoint = "locket/v1 checkpoint"
	DomainVote       = "locket/v1 vote"
)

// Place says how far a chain is covered, and the hash of the header there.
type Place struct {
	Member      memory.MemberID `cbor:"1,keyasint"`
	Incarnation uint64          `cbor:"2,keyasint"`
	Seq         uint64          `cbor:"3,keyasint"`
	Hash        Hash            `cbor:"4,keyasint"`
}

// Compare orders places by member, then by incarnation.
func (p Place) Compare(q Place) int {
	return cmp.Or(p.Member.Compare(q.Member), cmp.Compare(p.Incarnation, q.Incarnation))
}

// Checkpoint says what a snapshot covers: all deltas up to a cursor, which are
// the deltas of each chain up to its place.
type Checkpoint struct {
	Version   uint64          `cbor:"1,keyasint"`
	Space     memory.SpaceID  `cbor:"2,keyasint"`
	Author    memory.MemberID `cbor:"3,keyasint"`
	Head      Hash            `cbor:"4,keyasint"`
	Epoch     uint32          `cbor:"5,keyasint"`
	At        int64           `cbor:"6,keyasint"` // s since 1970-01-01 UTC, by the author's clock
	Cursor    uint64          `cbor:"7,keyasint"`
	Places    []Place         `cbor:"8,keyasint"`
	Manifest  Hash            `cbor:"9,keyasint"`
	Size      uint32          `cbor:"10,keyasint"`
	Signature []byte          `cbor:"-"`
}

// Verdict is a member's opinion of a checkpoint.
type Verdict uint8

// The verdicts.
const (
	Agree  Verdict = 1 // the snapshot equals the member's own data at the same cursor
	Object Verdict = 2
)

// Vote is a member's signed verdict on a checkpoint.
type Vote struct {
	Version    uint64          `cbor:"1,keyasint"`
	Space      memory.SpaceID  `cbor:"2,keyasint"`
	Member     memory.MemberID `cbor:"3,keyasint"`
	Checkpoint Hash            `cbor:"4,keyasint"`
	Verdict    Verdict         `cbor:"5,keyasint"`
	Head       Hash            `cbor:"6,keyasint"`
	Signature  []byte          `cbor:"-"`
}

type wireSigned struct {
	_         struct{} `cbor:",toarray"`
	Message   []byte
	Signature []byte
}

// ParseCheckpoint parses what [Checkpoint.Bytes] returns. It verifies nothing.
func ParseCheckpoint(b []byte) (*Checkpoint, error) {
	c := new(Checkpoint)
	return parseSigned("checkpoint", b, c, &c.Signature, MaxCheckpoint)
}

// ParseVote parses what [Vote.Bytes] returns. It verifies nothing.
func ParseVote(b []byte) (*Vote, error) {
	v := new(Vote)
	return parseSigned("vote", b, v, &v.Signature, MaxVote)
}

// parseSigned parses a signed message into v, and its signature.
func parseSigned[T interface{ check() error }](what string, b []byte, v T, signature *[]byte, limit int) (none T, err error) {
	var w wireSigned
	err = decode(b, &w, limit)
	if err == nil && len(w.Signature) != ed25519.SignatureSize {
		err = fmt.Errorf("%w: signature of %d bytes", ErrForm, len(w.Signature))
	}
	*signature = w.Signature
	if err == nil {
		err = decode(w.Message, v, limit)
	}
	if err == nil {
		err = v.check()
	}
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

func (c *Checkpoint) check() error {
	switch {
	case c.Version != Version:
		return fmt.Errorf("%w: version %d, want %d", ErrForm, c.Version, Version)
	case c.Space.IsZero() || c.Author == memory.MemberID{} || c.Head.IsZero() || c.Manifest.IsZero():
		return fmt.Errorf("%w: space, author, head and manifest are needed", ErrForm)
	case c.Epoch == 0 || c.Cursor == 0 || c.Size == 0 || c.Size > MaxBody:
		return fmt.Errorf("%w: epoch %d, cursor %d, size %d", ErrForm, c.Epoch, c.Cursor, c.Size)
	case len(c.Places) == 0 || len(c.Places) > MaxPlaces:
		return fmt.Errorf("%w: %d places, want 1 to %d", ErrForm, len(c.Places), MaxPlaces)
	}
	return checkPlaces(c.Places)
}

func checkPlaces(places []Place) error {
	for i, p := range places {
		if p.Seq == 0 || p.Hash.IsZero() || (p.Member == memory.MemberID{}) {
			return fmt.Errorf("%w: place %d: member, seq and hash are needed", ErrForm, i)
		}
		if i > 0 && places[i-1].Compare(p) >= 0 {
			return fmt.Errorf("%w: place %d: not ascending", ErrForm, i)
		}
	}
	return nil
}

func (v *Vote) check() error {
	switch {
	case v.Version != Version:
		return fmt.Errorf("%w: version %d, want %d", ErrForm, v.Version, Version)
	case v.Space.IsZero() || v.Member == memory.MemberID{} || v.Checkpoint.IsZero() || v.Head.IsZero():
		return fmt.Errorf("%w: space, member, checkpoint and head are needed", ErrForm)
	case v.Verdict != Agree && v.Verdict != Object:
		return fmt.Errorf("%w: verdict %d", ErrForm, v.Verdict)
	}
	return nil
}

// Sign fills in the signature.
func (c *Checkpoint) Sign(sign Signer) (err error) {
	c.Version = Version
	if err := c.check(); err != nil {
		return fmt.Errorf("sign checkpoint: %w", err)
	}
	c.Signature, err = sign(DomainCheckpoint, encode(c))
	return err
}

// Sign fills in the signature.
func (v *Vote) Sign(sign Signer) (err error) {
	v.Version = Version
	if err := v.check(); err != nil {
		return fmt.Errorf("sign vote: %w", err)
	}
	v.Signature, err = sign(DomainVote, encode(v))
	return err
}

// Hash returns the checkpoint's name: SHA-256 of the checkpoint without the
// signature.
func (c *Checkpoint) Hash() Hash { return sha256.Sum256(encode(c)) }

// Hash returns the vote's name: SHA-256 of the vote without the signature.
func (v *Vote) Hash() Hash { return sha256.Sum256(encode(v)) }

// Bytes returns the wire form.
func (c *Checkpoint) Bytes() []byte {
	return encode(wireSigned{Message: encode(c), Signature: c.Signature})
}

// Bytes returns the wire form.
func (v *Vote) Bytes() []byte {
	return encode(wireSigned{Message: encode(v), Signature: v.Signature})
}

// Place returns how far the checkpoint covers a chain.
func (c *Checkpoint) Place(m memory.MemberID, incarnation uint64) (Place, bool) {
	i, ok := slices.BinarySearchFunc(c.Places, Place{Member: m, Incarnation: incarnation}, Place.Compare)
	if !ok {
		return Place{}, false
	}
	return c.Places[i], true
}

// AcceptsCheckpoint checks that an owner of this space, who is still a member,
// made and signed c, that c names an entry of this log, and that it has the
// epoch that was in force there. Errors: [ErrUnknownHead], [ErrRule],
// [ErrSignature], and [ErrFormer] if c is correct but its author was removed
// since, so that it no longer counts.
func (s *State) AcceptsCheckpoint(c *Checkpoint) error {
	fail := func(err error, why string) error {
		return fmt.Errorf("checkpoint %s of %s: %w: %s", c.Hash(), c.Author, err, why)
	}
	if c.Space != s.space || s.N() == 0 {
		return fail(ErrRule, "of another space")
	}
	n, ok := s.knows(c.Head)
	if !ok {
		return fail(ErrUnknownHead, c.Head.String())
	}
	m := s.members[c.Author]
	switch {
	case m == nil || m.since > n:
		return fail(ErrRule, "its author was no member then")
	case m.Role != Owner:
		return fail(ErrRule, "its author is "+m.Role.String())
	case c.Epoch != s.entries[n-1].epoch:
		return fail(ErrRule, fmt.Sprintf("sealed in epoch %d, not %d", c.Epoch, s.entries[n-1].epoch))
	}
	for _, p := range c.Places {
		if s.members[p.Member] == nil {
			return fail(ErrRule, "it covers "+p.Member.String()+", which never was a member")
		}
	}
	if !Verify(m.Key, DomainCheckpoint, encode(c), c.Signature) {
		return fail(ErrSignature, "the author's")
	}
	if m.until != 0 {
		return fail(ErrFormer, fmt.Sprintf("by entry %d", m.until))
	}
	return nil
}

// Replaces reports whether o, which counts, replaces c, whose author was removed: o covers at least
// as much, or was made when the removal was known.
func (s *State) Replaces(o, c *Checkpoint) bool {
	m := s.members[c.Author]
	n, ok := s.knows(o.Head)
	return o.Cursor >= c.Cursor || ok && m != nil && m.until != 0 && m.until <= n
}

// AcceptsVote checks that an owner or writer of this space, who is still a
// member, cast and signed v.
func (s *State) AcceptsVote(v *Vote) error {
	fail := func(err error, why string) error { return fmt.Errorf("vote of %s: %w: %s", v.Member, err, why) }
	if v.Space != s.space || s.N() == 0 {
		return fail(ErrRule, "of another space")
	}
	if _, ok := s.knows(v.Head); !ok {
		return fail(ErrUnknownHead, v.Head.String())
	}
	m := s.members[v.Member]
	switch {
	case m == nil || m.until != 0:
		return fail(ErrRule, "no member")
	case !m.votes():
		return fail(ErrRule, "its author is "+m.Role.String())
	}
	if !Verify(m.Key, DomainVote, encode(v), v.Signature) {
		return fail(ErrSignature, "the author's")
	}
	return nil
}

func (m *standing) votes() bool { return m.until == 0 && (m.Role == Owner || m.Role == Writer) }

// Standing says how far a checkpoint can be trusted.
type Standing uint8

// The standings, which follow from the votes.
const (
	Unverified Standing = iota // only the author vouches for it
	Verified
	Disputed // an owner or writer objects
)

// Standing returns the standing of c, which [State.AcceptsCheckpoint] accepted.
// c is disputed if an owner or writer objects. It is verified if an owner or
// writer other than the author agrees, or if the author is the only one. Only
// members count who have not been removed. Votes that do not count are ignored.
func (s *State) Standing(c *Checkpoint, votes []*Vote) Standing {
	hash, agreed := c.Hash(), false
	for _, v := range votes {
		if v.Checkpoint != hash || s.AcceptsVote(v) != nil {
			continue
		}
		if v.Verdict == Object {
			return Disputed
		}
		agreed = agreed || v.Member != c.Author
	}
	alone := true
	for id, m := range s.members {
		alone = alone && (id == c.Author || !m.votes())
	}
	if agreed || alone {
		return Verified
	}
	return Unverified
}
