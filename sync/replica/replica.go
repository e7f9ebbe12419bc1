// Package replica is one member's side of a space: it sends what was made here
// and takes what others sent, and holds the relay to its word.
//
// The words, beside those of packages envelope and delta:
//
//   - A [Remote] is where deltas go and come from: a relay, as this member sees it.
//   - A [Journal] is what lies on this member's own disk: the outbox, what was
//     taken, and the [State] of the exchange.
//   - A round is one exchange: log, pull, push, in this order.
//   - The cursor is how far into the relay's deltas everything was taken.
//   - A [Problem] is something that was set aside, with the reason: one delta,
//     or one op of one. It is kept, and listed; the rest goes on.
//
// The relay is not trusted. It may withhold; it can't make anything up, change,
// repeat or reorder what members signed, nor go back behind what it showed once,
// without a Problem or an error here that names what it did.
package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// What a Remote answers that a replica must tell apart. It wraps these, or
// those of package envelope: ErrGap, ErrUnknownHead, ErrRule.
var (
	// ErrAhead: the relay is at an older place than the one asked about.
	ErrAhead = errors.New("relay is at an older place")
	// ErrConflict: the log has moved on; read it, and make the entry anew.
	ErrConflict = errors.New("the log has moved on")
	// ErrFork: the relay has something else at this place of our chain.
	ErrFork = errors.New("the chain has something else in this place")
	// ErrForbidden: this member is none, or no longer one.
	ErrForbidden = errors.New("not allowed")
	// ErrBlob: the bytes are not those that the hash names.
	ErrBlob = errors.New("blob is another one")
	// ErrNotFound: there is no such thing at the relay.
	ErrNotFound = errors.New("not at the relay")
)

// What went wrong with the other side.
var (
	// ErrRolledBack: the relay shows less than it has shown before.
	ErrRolledBack = errors.New("relay went back behind what it had shown")
	// ErrForeign: a delta of another space.
	ErrForeign = errors.New("delta of another space")
	// ErrRepeated: a delta that came before, in a new place.
	ErrRepeated = errors.New("delta came before")
	// ErrRemoved: this member was removed from the space.
	ErrRemoved = errors.New("this device was removed from the space")
)

// Placed is a delta's wire form behind its cursor.
type Placed struct {
	Cursor uint64
	Delta  []byte
}

// Ref names a delta by its place.
type Ref struct {
	Member memory.MemberID
	envelope.Position
}

// Remote is the space at a relay, as this member sees it.
type Remote interface {
	// Log gives the wire forms of entries after number n; none at the end.
	Log(ctx context.Context, n uint64) ([][]byte, error)
	// AppendLog appends; an entry that is there is no error.
	AppendLog(ctx context.Context, e *envelope.Entry) error
	// Deltas gives what came after a cursor, in order; none at the end.
	Deltas(ctx context.Context, after uint64) ([]Placed, error)
	// Append sends; what is there is no error.
	Append(ctx context.Context, d *envelope.Delta) error
	// Wait returns when there may be something after the cursor, or after a while.
	Wait(ctx context.Context, after uint64) error
	// Forget takes bodies away.
	Forget(ctx context.Context, refs []Ref) error
	Blobs
}

// Blobs keeps sealed bytes under their SHA-256.
type Blobs interface {
	// Upload sends all that r says, and gives its hash. What is there already
	// is not sent again.
	Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error)
	// Download writes a blob of at most limit bytes to f, after what f has of
	// it already; ErrNotFound.
	Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error
	// DeleteBlob removes one; none there is no error.
	DeleteBlob(ctx context.Context, id envelope.Hash) error
}

// Outgoing is one entry of the outbox: an op, a blob that is to be sent, or
// neither where it stays here.
type Outgoing struct {
	Seq   uint64
	Op    *delta.Op
	Blob  memory.ID // not zero: the blob of this name
	Owner memory.ID // of the blob
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
	Upto  uint64 `json:"upto"` // of the outbox
}

// State is what a replica remembers of the exchange.
type State struct {
	Founded     bool                     `json:"founded,omitempty"` // the relay has the first entry
	Incarnation uint64                   `json:"incarnation"`
	Own         envelope.Link            `json:"own"` // the last of ours that the relay took
	Pending     *Pending                 `json:"pending,omitempty"`
	Cursor      uint64                   `json:"cursor"`          // everything up to it was taken
	Ahead       map[uint64]envelope.Hash `json:"ahead,omitempty"` // taken beyond it: headers by cursor
	Chains      map[string]envelope.Link `json:"chains,omitempty"`
	Synced      time.Time                `json:"synced,omitzero"` // the last round that went well
}

// next is a copy that can be changed.
func (s State) next() State {
	s.Chains, s.Ahead = maps.Clone(s.Chains), maps.Clone(s.Ahead)
	if s.Chains == nil {
		s.Chains = map[string]envelope.Link{}
	}
	if s.Ahead == nil {
		s.Ahead = map[uint64]envelope.Hash{}
	}
	return s
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
	// Save keeps the state, and puts entries at the end of the log.
	Save(ctx context.Context, s State, entries ...[]byte) error
	// Entries gives the wire forms of the log, from the first.
	Entries(ctx context.Context) ([][]byte, error)
	// Outbox gives at most limit entries, the oldest first.
	Outbox(ctx context.Context, limit int) ([]Outgoing, error)
	// Sent takes the outbox's entries up to a number out, and saves. ops are
	// what went, and where.
	Sent(ctx context.Context, upto uint64, at envelope.Position, ops []delta.Op, s State) error
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
	Blobs  []envelope.Hash
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

// Config of a replica. All but Log, Now and Applied are needed.
type Config struct {
	Space   memory.SpaceID
	Member  memory.MemberID
	Genesis []byte // wire form of the first log entry
	Remote  Remote
	Journal Journal
	Keys    Keys
	Temp    string // folder for blobs that are on their way here, sealed
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
	Applied func()           // told after something was taken
	Linger  time.Duration    // after Poke, so that what comes together goes together
}

// Status tells how a replica is.
type Status struct {
	Synced   time.Time `json:"synced,omitzero"` // the last round that went well
	Pending  int       `json:"pending"`         // entries of the outbox, at most 1000
	Problems int       `json:"problems"`
	Error    string    `json:"error,omitempty"` // of the last round
	Cursor   uint64    `json:"cursor"`
	Log      uint64    `json:"log"` // entries
	Epoch    uint32    `json:"epoch"`
	Removed  bool      `json:"removed,omitempty"`
}

// Replica is one member's side. Its methods are safe for concurrent use.
type Replica struct {
	c    Config
	poke chan struct{}
	life context.Context // ends with Close: it is no call's
	end  context.CancelFunc

	round sync.Mutex // one at a time
	log   *envelope.State
	st    State
	ready bool

	mu   sync.Mutex
	last error
	stop context.CancelFunc
	done chan struct{}
}

// New gives a replica that does nothing until Sync or Start.
func New(c Config) (*Replica, error) {
	if c.Space.IsZero() || c.Genesis == nil || c.Remote == nil || c.Journal == nil || c.Keys == nil {
		return nil, fmt.Errorf("replica: %w: space, genesis, remote, journal and keys are needed", memory.ErrInvalid)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &Replica{c: c, poke: make(chan struct{}, 1)}
	r.life, r.end = context.WithCancel(context.Background())
	return r, nil
}

// ErrClosed: the replica was closed.
var ErrClosed = errors.New("replica is closed")

// Close ends what runs, and waits for it. Nothing of Config is used afterwards.
func (r *Replica) Close() {
	r.end()
	r.Stop()
	r.round.Lock()
	defer r.round.Unlock()
}

// begin takes the round, for as long as the replica lives and ctx does.
func (r *Replica) begin(ctx context.Context) (context.Context, func(), error) {
	r.round.Lock()
	if r.life.Err() != nil {
		r.round.Unlock()
		return nil, nil, ErrClosed
	}
	ctx, stop := context.WithCancel(ctx)
	unhook := context.AfterFunc(r.life, stop)
	done := func() { unhook(); stop(); r.round.Unlock() }
	if err := r.load(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return ctx, done, nil
}

// load reads the journal, once. The round is held.
func (r *Replica) load(ctx context.Context) error {
	if r.ready {
		return nil
	}
	st, err := r.c.Journal.State(ctx)
	if err != nil {
		return err
	}
	entries, err := r.c.Journal.Entries(ctx)
	if err != nil {
		return err
	}
	fresh := len(entries) == 0
	if fresh {
		entries = [][]byte{r.c.Genesis}
	}
	log := new(envelope.State)
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = log.Append(e)
		}
		if err != nil {
			return fmt.Errorf("replica: the log here: %w", err)
		}
	}
	if log.Space() != r.c.Space {
		return fmt.Errorf("replica: %w: the log here is of space %s", memory.ErrInvalid, log.Space())
	}
	if st.Incarnation == 0 {
		st.Incarnation = newIncarnation()
	}
	if fresh {
		if err := r.c.Journal.Save(ctx, st, r.c.Genesis); err != nil {
			return err
		}
	}
	r.st, r.log, r.ready = st, log, true
	return nil
}

func newIncarnation() uint64 { return rand.Uint64() | 1 }

// Members gives those who belong to the space, as far as the log is known here.
func (r *Replica) Members(ctx context.Context) ([]envelope.Member, error) {
	_, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return r.log.Members(), nil
}

// statusPage is how far the outbox is counted.
const statusPage = 1000

// Status waits for a round that runs.
func (r *Replica) Status(ctx context.Context) (Status, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return Status{}, err
	}
	defer done()
	out, err := r.c.Journal.Outbox(ctx, statusPage)
	if err != nil {
		return Status{}, err
	}
	problems, err := r.c.Journal.Problems(ctx)
	if err != nil {
		return Status{}, err
	}
	_, _, removed := r.log.Past(r.c.Member)
	s := Status{Synced: r.st.Synced, Problems: len(problems), Cursor: r.st.Cursor, Log: r.log.N(), Epoch: r.log.Epoch(), Removed: removed}
	for _, o := range out {
		if o.Op != nil || !o.Blob.IsZero() {
			s.Pending++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		s.Error = r.last.Error()
	}
	return s, nil
}

// Problems gives what was set aside, the newest first.
func (r *Replica) Problems(ctx context.Context) ([]Problem, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return r.c.Journal.Problems(ctx)
}
