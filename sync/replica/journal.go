package replica

import (
	"context"
	"io"
	"maps"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// Outgoing is one entry of the outbox: an op, a blob that is to be sent, or
// neither where it stays here.
type Outgoing struct {
	Seq   uint64
	Op    *delta.Op
	Blob  memory.ID // not zero: the blob of this name
	Owner memory.ID // of the blob
	Size  int64     // of the blob, in bytes; 0 where it is not known
}

// Entries names entries of the outbox by their numbers: those of Of, and where
// that is empty all up to Upto, as earlier builds said it.
type Entries struct {
	Of   []uint64 `json:"of,omitempty"`
	Upto uint64   `json:"upto,omitempty"`
}

// Incoming is what a delta said, checked.
type Incoming struct {
	At     time.Time // of now
	Cursor uint64
	Author envelope.Member
	Header *envelope.Header
	Grant  *delta.Grant // not nil: its author is an extractor, held to it
	Ops    []delta.Op
}

// Pending is a delta that was sealed, and perhaps sent.
type Pending struct {
	Delta []byte `json:"delta"`
	Entries
}

// State is what a replica remembers of the exchange.
type State struct {
	Founded     bool                     `json:"founded,omitempty"` // the relay has the first entry
	Incarnation uint64                   `json:"incarnation"`
	Own         envelope.Link            `json:"own"` // the last of ours that the relay took
	Pending     *Pending                 `json:"pending,omitempty"`
	Cursor      uint64                   `json:"cursor"`          // everything up to it was taken
	Ahead       map[uint64]envelope.Hash `json:"ahead,omitempty"` // taken beyond it: headers by cursor
	Late        map[uint64]envelope.Hash `json:"late,omitempty"`  // passed over: their authors had been removed
	Chains      Chains                   `json:"-"`               // as they were taken
	Synced      time.Time                `json:"synced,omitzero"` // the last round that went well

	// Bodies: of each chain, places that came bare and nobody has spoken of, and
	// places that were spoken of and did not come yet.
	MissingBodies map[string][]uint64 `json:"bare,omitempty"`
	RemovedBodies map[string][]uint64 `json:"gone,omitempty"`
	// Read is how far a snapshot that was taken in covers each chain, whether the
	// chain has come as far or not: see Elsewhere.
	Read Chains `json:"-"`

	Heard map[memory.MemberID]time.Time `json:"heard,omitempty"` // of each other member, but what the log says: see Contact
	Via   string                        `json:"via,omitempty"`   // what Cursor and Ahead are of: "" for a relay, or a name of the journal's
	// Of snapshots: the newest verified checkpoint that the relay has shown; the
	// cursor from which on something that was erased is in none; and parts at the
	// relay of one that is not made yet, or is being dropped.
	Checkpoint *Shown          `json:"checkpoint,omitempty"`
	Stale      uint64          `json:"stale,omitempty"`
	Parts      []envelope.Hash `json:"parts,omitempty"`
}

// next is a copy that can be changed.
func (s State) next() State {
	s.Chains, s.Read = s.Chains.next(), s.Read.next()
	s.Ahead, s.Late, s.Heard = maps.Clone(s.Ahead), maps.Clone(s.Late), maps.Clone(s.Heard)
	if s.Ahead == nil {
		s.Ahead = map[uint64]envelope.Hash{}
	}
	if s.Late == nil {
		s.Late = map[uint64]envelope.Hash{}
	}
	s.MissingBodies, s.RemovedBodies = maps.Clone(s.MissingBodies), maps.Clone(s.RemovedBodies)
	if s.MissingBodies == nil {
		s.MissingBodies = map[string][]uint64{}
	}
	if s.RemovedBodies == nil {
		s.RemovedBodies = map[string][]uint64{}
	}
	if s.Heard == nil {
		s.Heard = map[memory.MemberID]time.Time{}
	}
	return s
}

// keep goes on from a state that the journal has.
func (r *Replica) keep(s State) {
	s.Chains.fold()
	s.Read.fold()
	r.st = s
}

// dealt notes that the delta at a cursor was dealt with; front: as was
// everything before it.
func (s *State) dealt(cursor uint64, h *envelope.Header, front bool) {
	if !front {
		s.Ahead[cursor] = h.Hash()
		return
	}
	s.Cursor = cursor
	delete(s.Ahead, cursor)
}

// high is the greatest cursor that was dealt with.
func (s *State) high() uint64 {
	high := s.Cursor
	for c := range s.Ahead {
		high = max(high, c)
	}
	return high
}

// Journal is what lies on this member's disk. Each method that writes does so
// in one transaction. A replica calls one method at a time.
type Journal interface {
	// State gives what Save kept last; the zero State where nothing.
	State(ctx context.Context) (State, error)
	// Save keeps the state, of its Chains and of Read what Changed gives, and puts
	// entries at the end of the log.
	Save(ctx context.Context, s State, entries ...[]byte) error
	// Entries gives the wire forms of the log, from the first.
	Entries(ctx context.Context) ([][]byte, error)
	// Outbox gives at most limit entries: what is said before blobs, in its order;
	// of blobs those of pinned memories first, then small ones before large.
	Outbox(ctx context.Context, limit int) ([]Outgoing, error)
	// Sent takes entries out of the outbox, and saves. ops are what went, and where.
	Sent(ctx context.Context, sent Entries, at envelope.Position, ops []delta.Op, s State) error
	// Apply takes what came, and saves. What breaks a rule it sets aside. It
	// may use several transactions, the last of which saves.
	Apply(ctx context.Context, in Incoming, s State) error
	// SetAside keeps a problem; one that is there already changes nothing.
	SetAside(ctx context.Context, p Problem) error
	// Problems gives the newest first.
	Problems(ctx context.Context) ([]Problem, error)
	// Forgotten gives what of ours lies at the relay and holds something that
	// was erased, and nothing else that is not in a later delta as well.
	// Dropped says that it is gone.
	Forgotten(ctx context.Context) (Forgotten, error)
	Dropped(ctx context.Context, f Forgotten) error
	BlobJournal
}

// BlobJournal is the blobs on this member's disk.
type BlobJournal interface {
	// Alike gives what is known of blobs that a key seals, of any member's.
	Alike(ctx context.Context, key []byte) ([]delta.Blob, error)
	// Doubt notes a doubt, as package claim has it; one that is there already
	// changes nothing. The journal itself does so when a note of a blob goes.
	Doubt(ctx context.Context, id envelope.Hash) error
	// Doubts gives those that are noted.
	Doubts(ctx context.Context) ([]Doubt, error)
	// Resolve ends doubts.
	Resolve(ctx context.Context, ids []envelope.Hash) error

	// OpenBlob gives one, or memory.ErrNotFound.
	OpenBlob(ctx context.Context, name memory.ID) (io.ReadCloser, int64, error)
	// RemoteBlob gives what is known of one that another member sent, or
	// memory.ErrNotFound.
	RemoteBlob(ctx context.Context, name memory.ID) (delta.Blob, error)
	// KeepBlob stores one that was fetched.
	KeepBlob(ctx context.Context, b delta.Blob, from io.Reader) error
}

// Keys are this member's.
type Keys interface {
	Sign(domain string, msg []byte) ([]byte, error)
	// Epoch gives a key of the space.
	Epoch(n uint32) (*seal.Key, bool)
	// Take opens keys that were wrapped to this member, and keeps them.
	Take(sealed []byte) error
	// Wrap seals the keys of epochs 1 to n to a recipient.
	Wrap(n uint32, to *seal.Recipient) ([]byte, error)
}

// Forgotten is what is to go from the relay.
type Forgotten struct {
	Bodies []Ref
}

// Doubt is a sealed blob that is to be looked at.
type Doubt struct {
	Sealed envelope.Hash
	Note   *delta.Blob // that names it, of a blob that is here if there is one; nil: none
}

// Problem is something that was set aside.
type Problem struct {
	At     time.Time          `json:"at"`
	Cursor uint64             `json:"cursor,omitempty"`
	Member memory.MemberID    `json:"member,omitzero"`
	Place  *envelope.Position `json:"place,omitempty"`
	Op     int                `json:"op,omitempty"` // of the delta, from 1; 0: all of it
	Reason string             `json:"reason"`
	Waits  bool               `json:"waits,omitempty"` // it is looked at again when more has come
}
