// Package remotes exchanges a node's envelope store with its remotes: one relay
// or several, folders, and the wearer's other devices in the same network.
//
// The words, beside those of package envstore:
//
//   - The primary is the first relay. It decides on membership entries, and
//     shares and pairings use it. To move is to make another relay the primary,
//     once it has everything.
//   - A mirror is any other relay.
package remotes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/replica"
)

// Errors that a caller can distinguish.
var (
	ErrKnown     = errors.New("it is there already")
	ErrUnknown   = errors.New("no such relay")
	ErrLast      = errors.New("it is the only relay: add another before it goes")
	ErrEnvelopes = errors.New("the envelopes kept here can't be opened")
)

// Config is what a node's remotes need. All fields except Log and Now are required.
type Config struct {
	Dir     string // folder of the envelope store
	Genesis []byte // wire form of the first log entry
	Self    memory.MemberID
	Primary string // URL of the configured relay; may be empty
	// Open connects to the space at a relay.
	Open func(url string) (replica.Remote, error)
	// Blobs returns every blob of the space with its maximum number of sealed bytes.
	Blobs func(context.Context) (map[envelope.Hash]int64, error)
	// NamedBlobs is as in envstore.Carrier.
	NamedBlobs func(context.Context) (named map[envelope.Hash]bool, heard uint64, err error)
	// UploadFirst is as in envstore.Carrier.
	UploadFirst func(context.Context, []envelope.Hash) (map[envelope.Hash]bool, error)
	// Metered reports whether traffic costs money now, so that blobs wait. nil: it never
	// does.
	Metered func(context.Context) bool
	// MeteredVaries says that Metered may change by itself, so that waiting blobs are checked again.
	MeteredVaries bool
	// RetryAfter returns how long a remote that failed asks not to be contacted. If it is nil or
	// returns 0, the backoff decides.
	RetryAfter func(error) time.Duration
	Log        *slog.Logger
	Now        func() time.Time
	Spans      span.Sink // receives the spans of rounds; nil: there are none
}

// relayList is the stored list of relays.
type relayList struct {
	Added   []string `json:"added,omitempty"`
	Left    []string `json:"left,omitempty"`  // configured once, but not used any more
	Primary string   `json:"house,omitempty"` // the JSON key is its earlier name; empty: the configured one
}

// Remotes is a node's envelope store with its remotes. It is safe for
// concurrent use.
type Remotes struct {
	c         Config
	Envelopes *envstore.Store

	mu    sync.Mutex // guards the fields below
	list  relayList
	at    map[string]*remote // by name
	life  context.Context    // from Start to Stop, for loops that begin in between; nil while none run
	end   context.CancelFunc
	loops sync.WaitGroup
}

// remote is one remote and the state of its last round.
type remote struct {
	name    string // name of its standing
	url     string
	carrier *envstore.Carrier // used by one round at a time
	round   sync.Mutex        // held during a round of this remote
	stop    context.CancelFunc
	member  memory.MemberID // for a peer
	peer    bool

	mu         sync.Mutex // guards the fields below
	err        error      // of the last round
	standing   envstore.Standing
	lacks      int       // deltas that it lacks
	blobs      int       // blobs that wait for it
	late       bool      // see envstore.Carrier.HasPendingDeletes
	done, todo int       // deltas of the running round
	busy       bool      // a round is running
	retry      time.Time // time of the next attempt after a failure
}

// Status describes a remote.
type Status struct {
	Name    string
	Primary bool
	Peer    bool            // a device in the same network
	Member  memory.MemberID // for a peer: which device it is
	Synced  time.Time
	Err     error
	Lacks   int // deltas that are here, and that it has neither shown nor accepted
	Blobs   int // blobs that are here, and that were not sent to it
	Busy    bool
	Done    int // number of the Todo deltas that were sent
	Todo    int
	Retry   time.Time // next attempt after a failure
	Trouble []string  // its faults
}

// HasStore reports whether a folder has an envelope store from an earlier Open.
func HasStore(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// Check returns what differs from what was written: in the store, the list of relays, and
// what is stored about each. It repairs what a crash left. err means that the disk could not
// be read.
func Check(ctx context.Context, dir string, genesis []byte) (found []error, err error) {
	s, err := envstore.Open(dir, genesis)
	if err == nil {
		if found, err = s.Check(ctx); err != nil {
			return nil, err
		}
	} else if found = append(found, err); !envstore.IsCorrupt(err) {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "places", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range append(files, filepath.Join(dir, "relays.json")) {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var as any = new(relayList)
		if filepath.Dir(path) != dir {
			as = new(envstore.Standing)
		}
		if err := json.Unmarshal(b, as); err != nil {
			found = append(found, fmt.Errorf("%s: %w: %w", path, memory.ErrDamaged, err))
		}
	}
	return found, nil
}

// Refill fetches what the remotes have, and takes what can still be read from a broken store
// that was put aside. Then it sends the result to the remotes. err names the remotes that
// could not be reached.
func (p *Remotes) Refill(ctx context.Context, aside string) (met envstore.FolderSync, err error) {
	err = p.Round(ctx)
	if ctx.Err() != nil {
		return met, ctx.Err()
	}
	wanted, e := p.c.Blobs(ctx)
	if e != nil {
		return met, e
	}
	if met, e = p.Envelopes.Refill(ctx, aside, wanted); e != nil {
		return met, e
	}
	if met.Took > 0 || err != nil {
		err = p.Round(ctx) // deltas behind a gap may fit by now
	}
	return met, err
}

// Open reads the envelope store and the list of relays. [ErrEnvelopes] means that
// they are damaged, or that the disk fails.
func Open(c Config) (*Remotes, error) {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	s, err := envstore.Open(c.Dir, c.Genesis)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEnvelopes, err)
	}
	p := &Remotes{c: c, Envelopes: s, at: map[string]*remote{}}
	b, err := os.ReadFile(p.path())
	if err == nil {
		err = json.Unmarshal(b, &p.list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: list of relays: %w", ErrEnvelopes, err)
	}
	for _, url := range p.relays() {
		if err := p.open(url); err != nil {
			return nil, err
		}
	}
	p.wire()
	return p, nil
}

// PrimaryIn returns the primary relay's URL from the list in a folder that need not be open,
// or the configured one.
func PrimaryIn(dir, configured string) string {
	p := Remotes{c: Config{Dir: dir, Primary: configured}}
	if b, err := os.ReadFile(p.path()); err == nil && json.Unmarshal(b, &p.list) != nil {
		return configured
	}
	return p.Primary()
}

func (p *Remotes) path() string { return filepath.Join(p.c.Dir, "relays.json") }

// relays returns the URLs, the primary first.
func (p *Remotes) relays() []string {
	var out []string
	for _, url := range append([]string{p.list.Primary, p.c.Primary}, p.list.Added...) {
		if url != "" && !slices.Contains(out, url) && !slices.Contains(p.list.Left, url) {
			out = append(out, url)
		}
	}
	return out
}

// Primary returns the primary relay's URL, or an empty string.
func (p *Remotes) Primary() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := p.relays(); len(all) > 0 {
		return all[0]
	}
	return ""
}

func (p *Remotes) open(url string) error {
	at, err := p.c.Open(url)
	if err != nil {
		return err
	}
	r := &remote{name: url, url: url}
	r.carrier, err = p.Envelopes.Carry(envstore.Carrier{Name: url, Remote: at, Self: p.c.Self, Owner: p.owner(), Now: p.c.Now, Progress: r.progress,
		NamedBlobs: p.c.NamedBlobs, UploadFirst: p.c.UploadFirst, Metered: p.c.Metered})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEnvelopes, err)
	}
	r.standing, r.lacks = r.carrier.Standing(), r.carrier.MissingDeltas()
	p.at[url] = r
	return nil
}

func (p *Remotes) owner() bool {
	return slices.ContainsFunc(p.Envelopes.Members(), func(m envelope.Member) bool { return m.ID == p.c.Self && m.Role == envelope.Owner })
}

// wire connects the store with the remotes. The caller holds the lock, or is
// alone.
func (p *Remotes) wire() {
	var blobs []func(context.Context, envelope.Hash, io.ReadWriteSeeker, int64) error
	all := p.relays()
	for _, url := range all {
		blobs = append(blobs, p.at[url].carrier.Remote.Download)
	}
	for _, r := range p.at {
		if r.peer {
			blobs = append(blobs, r.carrier.Remote.Download)
		}
	}
	p.Envelopes.Fetch(blobs...)
	if len(all) == 0 {
		p.Envelopes.SetLogAppender(nil)
		return
	}
	primary := p.at[all[0]]
	p.Envelopes.SetLogAppender(func(ctx context.Context, e *envelope.Entry) error {
		err := primary.carrier.Remote.AppendLog(ctx, e)
		if errors.Is(err, replica.ErrConflict) {
			return errors.Join(err, p.round(ctx, primary)) // fetches the entry that came first
		}
		return err
	})
}

// Checkpoints returns the checkpoints of all relays, for a replica that lacks bodies. The
// error names the relays that could not be reached.
func (p *Remotes) Checkpoints(ctx context.Context) (out []replica.Listed, err error) {
	var errs []error
	for _, r := range p.all() {
		at, ok := r.carrier.Remote.(replica.Checkpoints)
		if !ok || r.peer {
			continue
		}
		all, err := at.Checkpoints(ctx)
		if err != nil && !errors.Is(err, replica.ErrNotFound) {
			errs = append(errs, fmt.Errorf("%s: %w", r.url, err))
		}
		out = append(out, all...)
	}
	return out, errors.Join(errs...)
}
