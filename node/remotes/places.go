// Package remotes keeps the shelf of a node and the places that its envelopes
// are carried to and from: one relay or several, folders, the wearer's other
// devices in the same network.
//
// The words, beside those of package shelf:
//
//   - The house is the first relay: it has the last word on who is a member,
//     shares and pairings go by it. To move house is to make another relay it,
//     once it has everything.
//   - A mirror is any other relay.
package remotes

import (
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

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/replica"
)

// What a caller can tell apart.
var (
	ErrKnown   = errors.New("it is there already")
	ErrUnknown = errors.New("no such relay")
	ErrLast    = errors.New("it is the only relay: add another before it goes")
	ErrShelf   = errors.New("the envelopes kept here can't be opened")
)

// Config of a node's places. All but Log and Now are needed.
type Config struct {
	Dir     string // of the shelf
	Genesis []byte // wire form of the first log entry
	Self    memory.MemberID
	House   string // the configured relay; may be empty
	// Open reaches the space at a relay.
	Open func(url string) (replica.Remote, error)
	// Blobs gives every blob of the space, with how many sealed bytes each has
	// at most.
	Blobs func(context.Context) (map[envelope.Hash]int64, error)
	// Named is as in envstore.Carrier.
	Named func(context.Context) (named map[envelope.Hash]bool, heard uint64, err error)
	// First is as in envstore.Carrier.
	First func(context.Context, []envelope.Hash) (map[envelope.Hash]bool, error)
	// Metered: blobs wait.
	Metered bool
	// After says how long a place that failed wants to be left alone; nil, or
	// nothing: as the pace has it.
	After func(error) time.Duration
	Log   *slog.Logger
	Now   func() time.Time
}

// kept is what is remembered of which relays there are.
type kept struct {
	Added []string `json:"added,omitempty"`
	Left  []string `json:"left,omitempty"`  // configured once, and no longer used
	House string   `json:"house,omitempty"` // empty: the configured one
}

// Places is safe for concurrent use.
type Places struct {
	c     Config
	Shelf *envstore.Store

	mu    sync.Mutex
	kept  kept
	at    map[string]*place
	life  context.Context // of the loops; nil while they do not run
	end   context.CancelFunc
	loops sync.WaitGroup
}

// place is one, with what is known of its last round.
type place struct {
	name    string // of its standing
	url     string
	carrier *envstore.Carrier
	round   sync.Mutex
	stop    context.CancelFunc
	peer    bool

	mu         sync.Mutex
	err        error
	standing   envstore.Standing
	lacks      int
	blobs      int
	late       bool // see envstore.Carrier.Waits
	done, todo int
	busy       bool
	retry      time.Time
}

// Status is how a place stands.
type Status struct {
	Name    string
	House   bool
	Peer    bool // a device in the same network
	Synced  time.Time
	Err     error
	Lacks   int // deltas that are here, and neither shown nor taken there
	Blobs   int // blobs that are here, and were not given there
	Busy    bool
	Done    int // of Todo deltas that are being sent
	Todo    int
	Retry   time.Time // when it is tried again, where it failed
	Trouble []string  // what it did that it should not have
}

// Used reports whether a folder has a shelf, made by an earlier Open.
func Used(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// Check names what is not as it was written: of the shelf, the list of relays,
// and what is remembered of each. What a crash left is put in order. err: the
// disk does not give it.
func Check(ctx context.Context, dir string, genesis []byte) (found []error, err error) {
	s, err := envstore.Open(dir, genesis)
	if err == nil {
		if found, err = s.Check(ctx); err != nil {
			return nil, err
		}
	} else if found = append(found, err); !envstore.Broken(err) {
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
		var as any = new(kept)
		if filepath.Dir(path) != dir {
			as = new(envstore.Standing)
		}
		if err := json.Unmarshal(b, as); err != nil {
			found = append(found, fmt.Errorf("%s: %w: %w", path, memory.ErrDamaged, err))
		}
	}
	return found, nil
}

// Refill brings here what the places have, and what can still be read of a shelf
// that was put aside; what came of that goes to the places. err is of the places that
// could not be asked.
func (p *Places) Refill(ctx context.Context, aside string) (met envstore.Met, err error) {
	err = p.Round(ctx)
	if ctx.Err() != nil {
		return met, ctx.Err()
	}
	wanted, e := p.c.Blobs(ctx)
	if e != nil {
		return met, e
	}
	if met, e = p.Shelf.Refill(ctx, aside, wanted); e != nil {
		return met, e
	}
	if met.Took > 0 || err != nil {
		err = p.Round(ctx) // what a place has behind a gap fits by now
	}
	return met, err
}

// Open reads the shelf and the list of relays. [ErrShelf]: they are damaged, or
// the disk does not give or take them.
func Open(c Config) (*Places, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s, err := envstore.Open(c.Dir, c.Genesis)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrShelf, err)
	}
	p := &Places{c: c, Shelf: s, at: map[string]*place{}}
	b, err := os.ReadFile(p.path())
	if err == nil {
		err = json.Unmarshal(b, &p.kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: list of relays: %w", ErrShelf, err)
	}
	for _, url := range p.relays() {
		if err := p.open(url); err != nil {
			return nil, err
		}
	}
	p.wire()
	return p, nil
}

func (p *Places) path() string { return filepath.Join(p.c.Dir, "relays.json") }

// relays gives the URLs, the house first.
func (p *Places) relays() []string {
	var out []string
	for _, url := range append([]string{p.kept.House, p.c.House}, p.kept.Added...) {
		if url != "" && !slices.Contains(out, url) && !slices.Contains(p.kept.Left, url) {
			out = append(out, url)
		}
	}
	return out
}

// House gives the first relay's URL, empty where there is none.
func (p *Places) House() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := p.relays(); len(all) > 0 {
		return all[0]
	}
	return ""
}

func (p *Places) open(url string) error {
	at, err := p.c.Open(url)
	if err != nil {
		return err
	}
	pl := &place{name: url, url: url}
	pl.carrier, err = p.Shelf.Carry(envstore.Carrier{Name: url, At: at, Self: p.c.Self, Owner: p.owner(), Now: p.c.Now, Progress: pl.progress,
		Named: p.c.Named, First: p.c.First, Metered: func() bool { return p.c.Metered }})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrShelf, err)
	}
	pl.standing, pl.lacks = pl.carrier.Standing(), pl.carrier.Lacks()
	p.at[url] = pl
	return nil
}

func (p *Places) owner() bool {
	return slices.ContainsFunc(p.Shelf.Members(), func(m envelope.Member) bool { return m.ID == p.c.Self && m.Role == envelope.Owner })
}

// wire tells the shelf whom to ask. The lock is held, or nobody else is there.
func (p *Places) wire() {
	var blobs []func(context.Context, envelope.Hash, io.ReadWriteSeeker, int64) error
	all := p.relays()
	for _, url := range all {
		blobs = append(blobs, p.at[url].carrier.At.Download)
	}
	for _, pl := range p.at {
		if pl.peer {
			blobs = append(blobs, pl.carrier.At.Download)
		}
	}
	p.Shelf.Fetch(blobs...)
	if len(all) == 0 {
		p.Shelf.Settle(nil)
		return
	}
	house := p.at[all[0]]
	p.Shelf.Settle(func(ctx context.Context, e *envelope.Entry) error {
		err := house.carrier.At.AppendLog(ctx, e)
		if errors.Is(err, replica.ErrConflict) {
			return errors.Join(err, p.round(ctx, house)) // brings the entry that came first
		}
		return err
	})
}

// Checkpoints gives those that the relays have, for a replica that lacks bodies. Of
// one that can't be asked nothing is given; the error is of all that can't.
func (p *Places) Checkpoints(ctx context.Context) (out []replica.Listed, err error) {
	var errs []error
	for _, pl := range p.all() {
		at, ok := pl.carrier.At.(replica.Checkpoints)
		if !ok || pl.peer {
			continue
		}
		all, err := at.Checkpoints(ctx)
		if err != nil && !errors.Is(err, replica.ErrNotFound) {
			errs = append(errs, fmt.Errorf("%s: %w", pl.url, err))
		}
		out = append(out, all...)
	}
	return out, errors.Join(errs...)
}

func (pl *place) progress(done, todo int) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.done, pl.todo = done, todo
}

// round does one with a place, and notes how it went.
func (p *Places) round(ctx context.Context, pl *place) error {
	pl.round.Lock()
	defer pl.round.Unlock()
	pl.mu.Lock()
	pl.busy = true
	pl.mu.Unlock()
	pl.carrier.Owner = p.owner()
	err := pl.carrier.Round(ctx)
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.busy, pl.err, pl.standing, pl.lacks, pl.retry = false, err, pl.carrier.Standing(), pl.carrier.Lacks(), time.Time{}
	pl.blobs, pl.late = pl.carrier.Waiting(), pl.carrier.Waits()
	return err
}

func (p *Places) all() []*place {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*place
	for _, pl := range p.at {
		out = append(out, pl)
	}
	return out
}

// Round does one with every place at once, and returns when all are done. What
// went wrong with each is in its status; the error is of all that did.
func (p *Places) Round(ctx context.Context) error {
	all := p.all()
	errs := make([]error, len(all))
	var rounds sync.WaitGroup
	for i, pl := range all {
		rounds.Go(func() { errs[i] = p.round(ctx, pl) })
	}
	rounds.Wait()
	return errors.Join(errs...)
}

// Status gives how each place stands: the house first, then by name.
func (p *Places) Status() []Status {
	house := p.House()
	var out []Status
	for _, pl := range p.all() {
		pl.mu.Lock()
		s := Status{Name: pl.url, House: pl.name == house, Peer: pl.peer, Synced: pl.standing.Synced, Err: pl.err, Lacks: pl.lacks, Blobs: pl.blobs,
			Busy: pl.busy, Done: pl.done, Todo: pl.todo, Retry: pl.retry, Trouble: pl.standing.Trouble}
		pl.mu.Unlock()
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Status) int {
		switch {
		case a.House != b.House && a.House:
			return -1
		case a.House != b.House:
			return 1
		case a.Name < b.Name:
			return -1
		}
		return 1
	})
	return out
}

// Start carries as things come, until Stop.
func (p *Places) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life != nil {
		return
	}
	p.life, p.end = context.WithCancel(context.Background())
	for _, pl := range p.at {
		p.begin(pl)
	}
}

// begin starts a place's loop. The lock is held.
func (p *Places) begin(pl *place) {
	ctx, stop := context.WithCancel(p.life)
	pl.stop = stop
	run := p.run
	if pl.peer {
		run = p.meetPeer
	}
	p.loops.Go(func() { run(ctx, pl) })
}

// Stop ends what Start began, and waits for it.
func (p *Places) Stop() {
	p.mu.Lock()
	if p.end != nil {
		p.end()
	}
	p.life, p.end = nil, nil
	p.mu.Unlock()
	p.loops.Wait()
}

// Of the pace after failures.
const (
	firstWait = time.Second
	longWait  = 5 * time.Minute
)

func (p *Places) run(ctx context.Context, pl *place) {
	pace, again := retry.Backoff{First: firstWait, Most: longWait}, firstWait
	for ctx.Err() == nil {
		changed := p.Shelf.Changed()
		err := p.round(ctx, pl)
		if err == nil {
			pace.Reset()
			listening, stop := context.WithCancel(ctx)
			if pl.waits() { // the replica is about to hear what came
				listening, stop = context.WithTimeout(ctx, again)
				again = min(2*again, longWait)
			} else {
				again = firstWait
			}
			pl.listen(listening, changed)
			stop()
			continue
		}
		if ctx.Err() != nil {
			return
		}
		p.c.Log.Warn("sync: will be tried again", "place", pl.name, "error", err)
		pause := pace.Next()
		if p.c.After != nil {
			pause = max(pause, p.c.After(err))
		}
		pl.mu.Lock()
		pl.retry = p.c.Now().Add(pause)
		pl.mu.Unlock()
		wait.For(ctx, pause)
	}
}

func (pl *place) waits() bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.late
}

// listen returns when there may be something to carry, either way.
func (pl *place) listen(ctx context.Context, changed <-chan struct{}) {
	pl.mu.Lock()
	after := pl.standing.Cursor
	pl.mu.Unlock()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan error, 1)
	go func() { heard <- pl.carrier.At.Wait(listening, after) }()
	select {
	case <-changed:
		stop()
		<-heard
	case err := <-heard:
		if err != nil {
			wait.For(ctx, firstWait)
		}
	}
}
