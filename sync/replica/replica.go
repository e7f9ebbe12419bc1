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
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// What can be wrong with the other side.
var (
	// ErrRolledBack: the relay shows less than it has shown before.
	ErrRolledBack = errors.New("relay went back behind what it had shown")
	// ErrForeign: a delta belongs to another space.
	ErrForeign = errors.New("delta of another space")
	// ErrRepeated: a delta came before, at another place.
	ErrRepeated = errors.New("delta came before")
	// ErrRemoved: this member was removed from the space.
	ErrRemoved = errors.New("this device was removed from the space")
)

// Config configures a replica. All fields but Log, Now, BatchDelay, Taken,
// Snapshots and SnapshotFallback are needed.
type Config struct {
	Space      memory.SpaceID
	Member     memory.MemberID
	Genesis    []byte // wire form of the first log entry
	Remote     Remote
	Journal    Journal
	Keys       Keys
	Temp       string // folder for partial downloads, sealed
	Log        *slog.Logger
	Now        func() time.Time // nil: time.Now
	BatchDelay time.Duration    // between two deltas, so that what comes together goes together

	// Local means that Remote is on this device's own disk and has checked what
	// it holds. Taking something twice changes nothing.
	Local bool
	// Taken is called within a round after each delta that was taken and each
	// part of a snapshot, so that whoever watches the disk need not wait for
	// the end of the round. It must not call the replica. It may be nil.
	Taken func(context.Context)
	// Snapshots says how this member makes and takes snapshots; nil: not at
	// all. It is not used with Local.
	Snapshots *Snapshots
	// SnapshotFallback, with Local, is where snapshots may have what the
	// envelope store lacks. It may be nil.
	SnapshotFallback *SnapshotFallback
}

// Status describes a replica.
type Status struct {
	Synced   time.Time `json:"synced,omitzero"` // end of the last successful round
	Pending  int       `json:"pending"`         // entries of the outbox, at most 1000
	Problems int       `json:"problems"`
	Error    string    `json:"error,omitempty"`    // of the last round
	Withheld int       `json:"withheld,omitempty"` // deltas without their bodies, whose removal nobody announced
	Cursor   uint64    `json:"cursor"`
	Log      uint64    `json:"log"` // number of log entries
	Epoch    uint32    `json:"epoch"`
	Removed  bool      `json:"removed,omitempty"`
	Busy     bool      `json:"busy,omitempty"` // a round is running
	Took     int       `json:"took,omitempty"` // deltas and snapshot parts that the running round has taken
	Sent     int       `json:"sent,omitempty"` // deltas and blobs that the running round has sent
}

// Replica is one member's side of a space. Its methods are safe for concurrent
// use.
type Replica struct {
	c    Config
	poke chan struct{}
	life context.Context // ends with Close; it belongs to no call
	end  context.CancelFunc

	round sync.Mutex // held for a whole round
	log   *envelope.State
	st    State
	ready bool

	// Snapshots; guarded by round: the relay's checkpoints, those that are of
	// no use, and the one for which bodies were dropped.
	seen      []*listed
	former    []*listed // of removed owners: they do not count any more
	looked    bool      // the relay's list was read at least once
	due       bool      // the list has to be read again
	woken     bool      // the relay woke this round
	bad       map[envelope.Hash]bool
	compacted envelope.Hash

	misled, rest int  // full re-reads that did not help, and rounds until the next
	rechecked    bool // see recheck
	whole        bool // the last round read everything that the relay has
	missed       int  // failed searches for missing bodies
	pause        int  // rounds until the next search
	refused      int  // checkpoints that the relay refused
	untried      int  // rounds until the next try
	forks        int  // incarnations that began in this round

	held     map[waiting]held // blobs that the round goes on without
	tooLarge int64            // size from which on the relay has no room for a blob; 0: none
	behind   int              // number of waiting blobs of at least that size

	said map[Ref]bool // bodies whose removal was announced and may not be done yet

	mu     sync.Mutex
	last   error
	during *Status            // report of the running round
	stop   context.CancelFunc // ends what Start began; nil: stopped
	done   chan struct{}      // closed when what Start began has ended
}

// New returns a replica that does nothing until Sync or Start.
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
	if c.Taken == nil {
		c.Taken = func(context.Context) {}
	}
	r := &Replica{c: c, poke: make(chan struct{}, 1), said: map[Ref]bool{}}
	r.c.Taken = func(ctx context.Context) {
		r.mark(func(s *Status) { s.Took++ })
		c.Taken(ctx)
	}
	r.life, r.end = context.WithCancel(context.Background())
	return r, nil
}

// ErrClosed reports a call after Close.
var ErrClosed = errors.New("replica is closed")

// Close ends what runs and waits for it. Afterwards nothing of Config is used.
func (r *Replica) Close() {
	r.end()
	r.Stop()
	r.round.Lock()
	defer r.round.Unlock()
}

// begin takes the round, while the replica and ctx live.
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

// load reads the journal, once. The caller holds the round.
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

// Members returns the members of the space, as far as the log is known here.
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

// Status waits for a running round and returns the status.
func (r *Replica) Status(ctx context.Context) (Status, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return Status{}, err
	}
	defer done()
	waiting, err := r.Waiting(ctx)
	if err != nil {
		return Status{}, err
	}
	problems, err := r.c.Journal.Problems(ctx)
	if err != nil {
		return Status{}, err
	}
	s := r.standing()
	s.Pending, s.Problems = waiting, len(problems)+len(r.withheld())+len(r.held)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		s.Error = Told(r.last)
	}
	return s, nil
}

// standing returns what the state and the log say. The caller holds the round.
func (r *Replica) standing() Status {
	_, _, removed := r.log.Past(r.c.Member)
	return Status{Synced: r.st.Synced, Withheld: count(r.st.MissingBodies), Cursor: r.st.Cursor, Log: r.log.N(), Epoch: r.log.Epoch(), Removed: removed}
}

// Told returns an error in words for a person, with the id of the failed
// request if the relay gave one, so that its operator can find it.
func Told(err error) string {
	asked, ok := errors.AsType[interface {
		error
		RequestID() string
	}](err)
	if !ok || asked.RequestID() == "" {
		return err.Error()
	}
	return err.Error() + "; request " + asked.RequestID()
}

// Problems returns what was quarantined, newest first.
func (r *Replica) Problems(ctx context.Context) ([]Problem, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	kept, err := r.c.Journal.Problems(ctx)
	return slices.Concat(r.holding(), r.withheld(), kept), err
}
