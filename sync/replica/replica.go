// Package replica is one member's side of a space. It sends what was made on
// this device, takes what other members sent, and checks that the relay does not
// lie.
//
// These words are used beside those of packages envelope and delta:
//
//   - A [Remote] is where deltas are sent to and come from: a relay, or this
//     device's envelope store.
//   - A [Journal] is the part of the exchange that is on this member's own disk:
//     the outbox, what was taken, and the [State].
//   - A round is one exchange with the remote: log, pull, push, in this order.
//   - The cursor is the place in the relay's sequence of deltas up to which this
//     member has taken everything.
//   - A [Problem] is a delta, or one op of a delta, that was quarantined, with
//     the reason. It is stored and listed, and the rest goes on.
//
// The relay is not trusted. It may withhold deltas. It can't invent, change,
// repeat or reorder what members signed, and it can't go back behind what it
// showed before, without a Problem or an error here that says what it did.
package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// These errors are faults of a relay, except ErrRemoved and ErrUnlisted.
var (
	// ErrRolledBack: the relay shows less than it has shown before.
	ErrRolledBack = errors.New("relay shows less than it had shown before")
	// ErrForeign: a delta belongs to another space.
	ErrForeign = errors.New("delta of another space")
	// ErrRepeated: the relay served a delta a second time, at another place.
	ErrRepeated = errors.New("delta came before")
	// ErrRemoved: this member was removed from the space.
	ErrRemoved = errors.New("this device was removed from the space")
	// ErrUnlisted: the membership log, as far as it has come, doesn't have this member. Without a
	// relay, it comes from the device that added this one.
	ErrUnlisted = errors.New("the device that added this one was not reached yet")
)

// Config configures a replica. Every field is required except Log, Now, BatchDelay, OnTaken,
// Snapshots and SnapshotFallback.
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
	Spans      span.Sink        // receives the spans of rounds; may be nil
	BatchDelay time.Duration    // shortest time between two deltas, so that ops that come together are sent in one

	// Local says that Remote is on this device's own disk, and that it has
	// checked what it holds. Taking something twice changes nothing.
	Local bool
	// OnTaken is called within a round after each delta and after each part of a
	// snapshot, so that the caller can watch the free disk space during a long
	// round. It must not call the replica. It may be nil.
	OnTaken func(context.Context)
	// Snapshots says how this member makes and takes snapshots. nil means that
	// it does neither. It is not used with Local.
	Snapshots *Snapshots
	// SnapshotFallback, used only with Local, is where this member looks for
	// bodies that the envelope store lacks. It may be nil.
	SnapshotFallback *SnapshotFallback
}

// Status describes a replica.
type Status struct {
	Synced   time.Time `json:"synced,omitzero"` // end of the last successful round
	Pending  int       `json:"pending"`         // entries of the outbox, at most 1000
	Problems int       `json:"problems"`
	Error    string    `json:"error,omitempty"`    // of the last round
	Withheld int       `json:"withheld,omitempty"` // deltas that came without their bodies and without an announcement
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
	c      Config
	notify chan struct{}   // has room for one item, which says that there is something to send
	life   context.Context // cancelled by Close; a call ends with it, or with its own context
	cancel context.CancelFunc

	// round is held for a whole round. It guards all fields above mu.
	round sync.Mutex
	log   *envelope.State // the membership log
	st    State           // as the journal has saved it
	ready bool            // log and st were read from the journal

	// Snapshots.
	checkpoints       []*listed                            // those that the relay lists
	formerCheckpoints []*listed                            // of removed owners, which no longer count
	listRead          bool                                 // the relay's list was read at least once
	listDue           bool                                 // the list has to be read again
	wokenByRelay      bool                                 // the relay woke this round
	wrongCheckpoints  map[envelope.Hash]bool               // checkpoints whose content is wrong
	incomplete        map[envelope.Hash]incompleteSnapshot // those of bad that the relay did not show completely
	compacted         envelope.Hash                        // the checkpoint for which the relay dropped bodies

	// Counters of failures. Each failure makes the next try wait for more rounds.
	failedRereads      int  // full re-reads that did not help
	rereadPause        int  // rounds until the next one
	failedSearches     int  // searches for missing bodies that found none
	searchPause        int  // rounds until the next one
	refusedCheckpoints int  // checkpoints that the relay refused
	checkpointPause    int  // rounds until the next try
	forks              int  // incarnations that began in this round
	rechecked          bool // the late deltas of removed members were compared again, see recheck
	readAll            bool // the last round read everything that the relay has

	// What the relay stores.
	deferred        map[waiting]deferredBlob // blobs that this round does not send
	tooLarge        int64                    // the relay has no room for blobs of at least so many bytes; 0: unknown
	tooLargeWaiting int                      // how many waiting blobs have at least that size
	announced       map[Ref]bool             // bodies whose removal was announced, and that the relay may still have

	mu      sync.Mutex         // guards the following fields
	last    error              // of the last round
	running *Status            // report of the running round; nil: none runs
	stop    context.CancelFunc // ends the loop of Start; nil: stopped
	done    chan struct{}      // closed when the loop of Start has ended
}

// New returns a replica that does nothing until Sync or Start.
func New(c Config) (*Replica, error) {
	if c.Space.IsZero() || c.Genesis == nil || c.Remote == nil || c.Journal == nil || c.Keys == nil {
		return nil, fmt.Errorf("replica: %w: space, genesis, remote, journal and keys are needed", memory.ErrInvalid)
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.OnTaken == nil {
		c.OnTaken = func(context.Context) {}
	}
	r := &Replica{c: c, notify: make(chan struct{}, 1), announced: map[Ref]bool{}}
	r.c.OnTaken = func(ctx context.Context) {
		r.report(func(s *Status) { s.Took++ })
		c.OnTaken(ctx)
	}
	r.life, r.cancel = context.WithCancel(span.With(context.Background(), c.Spans))
	return r, nil
}

// ErrClosed reports a call after Close.
var ErrClosed = errors.New("replica is closed")

// Close stops the running round and waits for its end. After that the replica
// uses nothing of Config any more. Close may be called twice.
func (r *Replica) Close() {
	r.cancel()
	r.Stop()
	r.round.Lock()
	defer r.round.Unlock()
}

// begin locks the round, unless the replica is closed or ctx has ended. It
// returns a context for the round and the function that ends the round.
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

// Members returns the members of the space, according to the log entries that
// this member has.
func (r *Replica) Members(ctx context.Context) ([]envelope.Member, error) {
	_, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return r.log.Members(), nil
}

// statusPage is the greatest number of outbox entries that Status counts.
const statusPage = 1000

// Status returns the status. It waits for the end of a running round.
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
	s := r.statusNow()
	s.Pending, s.Problems = waiting, len(problems)+len(r.withheld())+len(r.deferred)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		s.Error = DescribeError(r.last)
	}
	return s, nil
}

// statusNow returns the part of the status that follows from the state and the
// log. The caller holds the round.
func (r *Replica) statusNow() Status {
	_, _, removed := r.log.Past(r.c.Member)
	return Status{Synced: r.st.Synced, Withheld: countChainPlaces(r.st.MissingBodies), Cursor: r.st.Cursor, Log: r.log.N(), Epoch: r.log.Epoch(), Removed: removed}
}

// DescribeError describes an error for a person. If the relay gave an id for the failed
// request, DescribeError includes it, so that the relay's operator can find the request.
func DescribeError(err error) string {
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
	return slices.Concat(r.deferredProblems(), r.withheld(), kept), err
}
