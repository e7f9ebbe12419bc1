package envelope

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// FORMAT of a log entry: a CBOR map; keys can be absent where the table says so:
//
//	 1  u      version, 1
//	 2  b16    space
//	 3  u64    n, from 1
//	 4  b32    prev: SHA-256 of entry n-1 (without its signature), or zeros
//	 5  b8     author: a member, or zeros for the root
//	 6  u      action: 1 found, 2 add, 3 remove, 4 epoch
//	 7  i64    at: seconds since 1970, by the author's clock
//	 8  u32    epoch in force after this entry, from 1
//	 9  b32    root's Ed25519 key; found only
//	10  text   recovery recipient, age form; found only
//	11  map    member; found, add
//	12  b8     removed member; remove only
//	           the removed member, ascending by incarnation; remove only, absent if empty
//	           the removed, ascending by incarnation; remove only, absent where empty
//	14  array  of {1 b8 member or zeros for recovery, 2 bytes sealed epoch keys},
//	           ascending by member
//
// and of a member:
//
//	1  b8     id        4  u      role: 1 owner, 2 writer, 3 extractor, 4 reader
//	2  b32    key       5  bytes  name, sealed; absent if empty
//	3  text   recipient 6  bytes  grant, sealed; absent if empty
//
// On the wire: a CBOR array of bytes entry, b64 signature (domain
// "locket/v1 log").

// Limits, with their units.
const (
	MaxMembers      = 64        // at a time
	MaxEntry        = 256 << 10 // bytes of an entry on the wire
	MaxRecipient    = 2048      // characters; hybrid ones have 1,959
	MaxSealedName   = 2048      // bytes
	MaxGrant        = 8 << 10   // bytes
	MaxWrap         = 8 << 10   // bytes: 1.7 kB of age, and 36 for each epoch
	MaxHistory      = 224 << 10 // bytes of the one wrap of an addition, which has all epochs
	MaxEpochs       = 6000      // that rotations may begin; removals may begin more, and 6,300 fit into MaxHistory
	MaxIncarnations = 128       // of one member: that a removal may name, and that a relay takes
)

// Action says what an entry does.
type Action uint8

// The actions.
const (
	Found  Action = 1 // the root founds the space with its first member, an owner
	Add    Action = 2 // adds a member
	Remove Action = 3 // removes a member and begins an epoch
	Rekey  Action = 4 // begins a new epoch for the same members
)

var actionNames = [...]string{Found: "found", Add: "add", Remove: "remove", Rekey: "epoch"}

// String returns the action's name.
func (a Action) String() string {
	if a >= Found && int(a) < len(actionNames) {
		return actionNames[a]
	}
	return fmt.Sprintf("action(%d)", uint8(a))
}

// Role says what a member may do.
type Role uint8

// The roles.
const (
	Owner     Role = 1 // writes and changes the membership
	Writer    Role = 2 // writes
	Extractor Role = 3 // a worker: writes within the rules for its rank
	Reader    Role = 4 // reads
)

var roleNames = [...]string{Owner: "owner", Writer: "writer", Extractor: "extractor", Reader: "reader"}

// String returns the role's name.
func (r Role) String() string {
	if r >= Owner && int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r *Role) UnmarshalText(b []byte) error {
	for i, n := range roleNames {
		if n != "" && n == string(b) {
			*r = Role(i)
			return nil
		}
	}
	return fmt.Errorf("%w: role %q: want owner, writer, extractor or reader", ErrForm, b)
}

// Writes reports whether the role may send deltas.
func (r Role) Writes() bool { return r == Owner || r == Writer || r == Extractor }

// PutsBlobs reports whether the role may put blobs at a relay. A worker may not:
// its ops can't name blobs, so its blobs could only be an obstacle for others.
func (r Role) PutsBlobs() bool { return r == Owner || r == Writer }

// Member is a member of a space.
type Member struct {
	ID        memory.MemberID `cbor:"1,keyasint"`
	Key       []byte          `cbor:"2,keyasint"` // Ed25519, 32 bytes
	Recipient string          `cbor:"3,keyasint"` // age form; epoch keys are sealed to it
	Role      Role            `cbor:"4,keyasint"`
	Name      []byte          `cbor:"5,keyasint,omitempty"` // sealed; a relay can't read it
	Grant     []byte          `cbor:"6,keyasint,omitempty"` // sealed; what an extractor or reader may do
}

// Wrap has the keys of epochs, sealed to the member To, or to recovery if To is zero.
type Wrap struct {
	To   memory.MemberID `cbor:"1,keyasint"`
	Keys []byte          `cbor:"2,keyasint"`
}

// Entry is one change of a space's membership.
type Entry struct {
	Version   uint64           `cbor:"1,keyasint"`
	Space     memory.SpaceID   `cbor:"2,keyasint"`
	N         uint64           `cbor:"3,keyasint"`
	Prev      Hash             `cbor:"4,keyasint"`
	Author    memory.MemberID  `cbor:"5,keyasint"` // zero: the root
	Action    Action           `cbor:"6,keyasint"`
	At        int64            `cbor:"7,keyasint"` // s since 1970-01-01 UTC, by the author's clock
	Epoch     uint32           `cbor:"8,keyasint"`
	Root      []byte           `cbor:"9,keyasint,omitempty"`
	Recovery  string           `cbor:"10,keyasint,omitempty"`
	Member    *Member          `cbor:"11,keyasint,omitempty"`
	Removed   *memory.MemberID `cbor:"12,keyasint,omitempty"`
	Last      []Position       `cbor:"13,keyasint,omitempty"`
	Wraps     []Wrap           `cbor:"14,keyasint,omitempty"`
	Signature []byte           `cbor:"-"` // 64 bytes
}

// ParseEntry parses what [Entry.Bytes] returns. It verifies nothing.
func ParseEntry(b []byte) (*Entry, error) {
	e := new(Entry)
	return parseSigned("log entry", b, e, &e.Signature, MaxEntry)
}

// Bytes returns the wire form.
func (e *Entry) Bytes() []byte {
	return encode(wireSigned{Message: e.body(), Signature: e.Signature})
}

func (e *Entry) body() []byte { return encode(e) }

// Hash returns the hash by which the next entry and delta headers name this entry.
// It does not cover the signature.
func (e *Entry) Hash() Hash { return sha256.Sum256(e.body()) }

// Accepts reports whether a removal accepts the delta at that position of the
// removed member.
func (e *Entry) Accepts(p Position) bool { return e.Action == Remove && withinLast(e.Last, p) }

// Sign sets the version and the signature.
func (e *Entry) Sign(sign Signer) error {
	e.Version = Version
	if err := e.check(); err != nil {
		return fmt.Errorf("sign log entry: %w", err)
	}
	sig, err := sign(DomainLog, e.body())
	if err != nil {
		return fmt.Errorf("sign log entry: %w", err)
	}
	e.Signature = sig
	return nil
}

// Verify checks that key signed e. It does not check whether the author may make
// the entry; [State.Append] does.
func (e *Entry) Verify(key ed25519.PublicKey) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("log entry %d: %w", e.N, err)
	}
	if !Verify(key, DomainLog, e.body(), e.Signature) {
		return fmt.Errorf("log entry %d: %w", e.N, ErrSignature)
	}
	return nil
}
