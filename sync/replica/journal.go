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

// Outgoing is one entry of the outbox: an op, or a blob to send. An entry with
// neither is not sent.
type Outgoing struct {
	Seq   uint64
	Op    *delta.Op
	Blob  memory.ID // not zero: the name of the blob to send
	Owner memory.ID // owner of the blob
	Size  int64     // size of the blob in bytes; 0: unknown
}

// Entries names entries of the outbox by their numbers.
type Entries struct {
	Of []uint64 `json:"of,omitempty"`
}

// Incoming is a delta's content after all checks.
type Incoming struct {
	At     time.Time // when it was taken
	Cursor uint64
	Author envelope.Member
	Header *envelope.Header
	Grant  *delta.Grant // not nil: the author is an extractor with this grant
	Ops    []delta.Op
}

// Pending is a delta that was sealed and may have been sent.
type Pending struct {
	Delta []byte `json:"delta"`
	Entries
}

// State is what a replica remembers between rounds.
type State struct {
	Founded     bool                     `json:"founded,omitempty"` // the relay has the first log entry
	Incarnation uint64                   `json:"incarnation"`
	Own         envelope.Link            `json:"own"` // our last delta that the relay took
	Pending     *Pending                 `json:"pending,omitempty"`
	Cursor      uint64                   `json:"cursor"`          // every delta up to it was taken
	Ahead       map[uint64]envelope.Hash `json:"ahead,omitempty"` // header hashes of deltas taken beyond Cursor, by cursor
	Late        map[uint64]envelope.Hash `json:"late,omitempty"`  // header hashes of deltas that were not taken because their authors had been removed, by cursor
	Chains      Chains                   `json:"-"`               // how far each chain was taken
	Synced      time.Time                `json:"synced,omitzero"` // end of the last successful round

	// Both maps hold sequence numbers for each chain, ascending. MissingBodies
	// are deltas that came without their bodies, while no announcement gave a
	// reason. RemovedBodies are deltas whose removal was announced before they
	// came.
	MissingBodies map[string][]uint64 `json:"bare,omitempty"`
	RemovedBodies map[string][]uint64 `json:"gone,omitempty"`
	// Read says how far the snapshots that were taken cover each chain. The
	// chain itself may not have come that far: see SnapshotFallback.
	Read Chains `json:"-"`

	Heard map[memory.MemberID]time.Time `json:"heard,omitempty"` // when each other member last said something, except what the log says: see Contact
	// Confirmed is what each other member last said that it has: see Reach.
	Confirmed map[memory.MemberID]Confirmation `json:"confirmed,omitempty"`
	Via       string                           `json:"via,omitempty"` // the remote to which Cursor and Ahead belong: "" for a relay, or a name given by the journal
	// These fields are about snapshots. Checkpoint is the newest verified
	// checkpoint that the relay has shown. Stale is a cursor: every snapshot
	// before it contains something that was erased since. Parts are blobs at
	// the relay that belong to an unfinished snapshot, or to one that is being
	// dropped.
	Checkpoint *ShownCheckpoint `json:"checkpoint,omitempty"`
	Stale      uint64           `json:"stale,omitempty"`
	Parts      []envelope.Hash  `json:"parts,omitempty"`
}

// clone returns a copy that can be changed.
func (s State) clone() State {
	s.Chains, s.Read = s.Chains.clone(), s.Read.clone()
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
	s.Confirmed = maps.Clone(s.Confirmed)
	if s.Confirmed == nil {
		s.Confirmed = map[memory.MemberID]Confirmation{}
	}
	return s
}

// setState replaces the state in memory by one that the journal has saved.
func (r *Replica) setState(s State) {
	s.Chains.merge()
	s.Read.merge()
	r.st = s
}

// handled records that the delta at cursor was handled. front says that all
// deltas before it were handled, too.
func (s *State) handled(cursor uint64, h *envelope.Header, front bool) {
	if !front {
		s.Ahead[cursor] = h.Hash()
		return
	}
	s.Cursor = cursor
	delete(s.Ahead, cursor)
}

// high returns the greatest cursor that was handled, which may be beyond
// Cursor.
func (s *State) high() uint64 {
	high := s.Cursor
	for c := range s.Ahead {
		high = max(high, c)
	}
	return high
}

// Journal is this member's durable state. Each method that writes uses one
// transaction unless it says otherwise. A replica calls one method at a time.
type Journal interface {
	// State returns the state that Save stored last, or the zero State.
	State(ctx context.Context) (State, error)
	// Save stores the state and appends entries to the log. For Chains and Read
	// it stores only what Changed returns.
	Save(ctx context.Context, s State, entries ...[]byte) error
	// Entries returns the wire forms of the log from the first entry.
	Entries(ctx context.Context) ([][]byte, error)
	// Outbox returns at most limit entries: first the ops in their order, then
	// the blobs. Blobs of pinned memories come first, then the smaller ones.
	Outbox(ctx context.Context, limit int) ([]Outgoing, error)
	// Sent removes entries from the outbox and saves the state. ops are the ops
	// that were sent, and at is the position of their delta.
	Sent(ctx context.Context, sent Entries, at envelope.Position, ops []delta.Op, s State) error
	// Apply stores the content of a delta and saves the state. It quarantines
	// ops that break a rule. It may use several transactions; the last one
	// saves the state.
	Apply(ctx context.Context, in Incoming, s State) error
	// Quarantine stores a problem. Storing it twice changes nothing.
	Quarantine(ctx context.Context, p Problem) error
	// Problems returns the problems, newest first.
	Problems(ctx context.Context) ([]Problem, error)
	// Removals returns the bodies and blobs of this member at the relay that
	// contain something erased. It leaves out a body until a later delta
	// repeats everything else that the body contains. RecordRemovals records that the
	// relay has removed them.
	Removals(ctx context.Context) (Removals, error)
	RecordRemovals(ctx context.Context, f Removals) error
	BlobJournal
}

// BlobJournal is the blobs on this member's disk.
type BlobJournal interface {
	// NotesByKey returns the notes of all blobs, of any member, that a key seals.
	NotesByKey(ctx context.Context, key []byte) ([]delta.Blob, error)
	// RecordDoubt records a doubt as package claim defines it. Recording it twice
	// changes nothing. The journal itself records a doubt when the note of a
	// blob is removed.
	RecordDoubt(ctx context.Context, id envelope.Hash) error
	// Doubts returns the recorded doubts.
	Doubts(ctx context.Context) ([]Doubt, error)
	// RemoveDoubts removes doubts.
	RemoveDoubts(ctx context.Context, ids []envelope.Hash) error

	// OpenBlob opens a blob on this disk, or returns memory.ErrNotFound.
	OpenBlob(ctx context.Context, name memory.ID) (io.ReadCloser, int64, error)
	// RemoteBlob returns the note of a blob that another member sent, or
	// memory.ErrNotFound.
	RemoteBlob(ctx context.Context, name memory.ID) (delta.Blob, error)
	// KeepBlob stores the opened bytes of a downloaded blob.
	KeepBlob(ctx context.Context, b delta.Blob, from io.Reader) error
}

// Keys are this member's keys.
type Keys interface {
	Sign(domain string, msg []byte) ([]byte, error)
	// Epoch returns the key of an epoch, and whether this member has it.
	Epoch(n uint32) (*seal.Key, bool)
	// Take opens keys that were wrapped to this member, and keeps them.
	Take(sealed []byte) error
	// Wrap seals the keys of epochs 1 to n to a recipient.
	Wrap(n uint32, to *seal.Recipient) ([]byte, error)
}

// Removals lists bodies and blobs that the relay has to remove.
type Removals struct {
	Bodies []Ref
}

// Doubt is a sealed blob whose presence at the relay has to be checked.
type Doubt struct {
	Sealed envelope.Hash
	Note   *delta.Blob // a note that names the blob, preferably of a blob that is on this disk; nil: no note names it
}

// Problem is something that was quarantined.
type Problem struct {
	At     time.Time          `json:"at"`
	Cursor uint64             `json:"cursor,omitempty"`
	Member memory.MemberID    `json:"member,omitzero"`
	Place  *envelope.Position `json:"place,omitempty"`
	Op     int                `json:"op,omitempty"` // number of the op in the delta, from 1; 0: the whole delta
	Reason string             `json:"reason"`
	Waits  bool               `json:"waits,omitempty"` // the replica tries again when more deltas have come
}
