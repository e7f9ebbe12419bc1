// Package cold keeps a node's store within its budget: what is asked for
// least turns cold, and comes back when it is recalled, or before, for a day
// that will ask for it.
//
//   - A [PackStore] is where packs lie: the relay, as this device sees it.
//   - To cool is to turn memories cold until the budget is kept.
//   - To fetch is to bring cold ones back, with their groups.
//   - What is missing is cold, and the pack store can't be reached now.
//
// Which memories is for package tier to say, how a pack looks for package store.
package cold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
)

// PackStore keeps packs. Implementations are safe for concurrent use.
type PackStore interface {
	// Put returns once the pack is kept, with its name in the pack store. The same bytes
	// have the same name.
	Put(ctx context.Context, body []byte) (at []byte, err error)
	// Get gives a pack of a size, whole and unaltered. The error is [ErrLost] if
	// the pack store was reached and does not have the pack so.
	Get(ctx context.Context, at []byte, size int64) ([]byte, error)
	// Piece gives n bytes of a pack of a size, from an offset, unchecked. The error
	// is [ErrLost] if the pack store was reached and has no such pack.
	Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error)
	// Delete removes a pack. It is no error if there is none.
	Delete(ctx context.Context, at []byte) error
}

// ErrUnreachable: the pack store can't be asked now; what is cold is missing.
var ErrUnreachable = errors.New("cold memories can't be fetched now")

// ErrLost: the pack store does not have a pack, or has it altered.
var ErrLost = errors.New("the pack store does not have the pack, or has it altered")

// Config of a keeper. Store and Commit are needed.
type Config struct {
	Store  *store.Store
	Packs  PackStore // nil: there is none, and nothing turns cold
	Budget tier.Budget

	// Commit changes the records and has the index know.
	Commit func(ctx context.Context, fn func(*store.Tx) error) error
	// Covered writes the index's segments. It gives the place in the document log
	// up to which they hold everything.
	Covered func(ctx context.Context) (uint64, error)
	Notes   func(memory.ID) []string // see store.Cooling
	Froze   func(*store.Tx, []memory.Assertion) error
	// Thawed is told which memories came back, within the transaction. The index
	// has not seen its changes otherwise. It may be nil.
	Thawed func(*store.Tx, []memory.ID) error
	// Safe makes sure that the pack store has a photo or recording just as it is here,
	// and can give it back. It is false if the blob was not sent, or differs there.
	// If Safe is nil, photos and recordings stay.
	Safe func(ctx context.Context, blob memory.ID) (bool, error)
	// Stays says why a memory stays hot for a reason of the node's own. It is empty
	// if the memory need not stay.
	Stays func(*memory.Memory) string
	// Uses is how often each memory was used on this device.
	Uses func(*store.Tx) (map[memory.ID]Use, error)
	// Back goes on with what waited for groups that are back. It is called at each
	// Maintain, and does little if nothing waits.
	Back func(ctx context.Context) error
	// Alone calls do, which takes more memory than anything else: it rewrites or compacts the
	// records. Before that it lets go of what can be loaded again, which is not loaded again
	// before do has returned. If Alone is nil, do is just called.
	Alone func(ctx context.Context, do func(context.Context) error) error
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
}

// Use is how often a memory was used, and when it was last.
type Use struct {
	Count int
	Last  time.Time
}

// Keeper keeps the budget. Its methods are safe for concurrent use. Only one of
// Cool, Maintain, Ease and Compact runs at a time; the others wait.
type Keeper struct {
	c Config

	tending sync.Mutex // held by Cool, Maintain, Ease and Compact; taken before fetching

	fetching turn // held while packs are fetched from the pack store and their memories are put back
	last     lastBody

	still sync.RWMutex // held for reading by callers during which nothing may turn cold, see Hold

	ease   easing     // under tending
	rest   resting    // likewise
	count  sync.Mutex // guards what follows, but for frozen and packed; never held for long
	state  Status
	down   time.Time          // the pack store is not asked again until then
	why    error              // why not
	today  map[memory.ID]bool // fetched for the day
	frozen int                // memories that turned cold since the files were last rewritten
	packed int                // utterances, since then
}

// turn is a lock whose waiters may give up, because its holder may wait for the
// pack store for as long as that takes.
type turn chan struct{}

func (t turn) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: other fetches are still running: %w", ErrUnreachable, ctx.Err())
	}
}

func (t turn) give() { <-t }

// lastBody is the pack that was fetched last. Neighbours turned cold together, and
// are often asked for together.
type lastBody struct {
	pack uint64
	body []byte
}

// New gives a keeper that does nothing by itself.
func New(c Config) *Keeper {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Stays == nil {
		c.Stays = func(*memory.Memory) string { return "" }
	}
	if c.Uses == nil {
		c.Uses = func(*store.Tx) (map[memory.ID]Use, error) { return nil, nil }
	}
	return &Keeper{c: c, fetching: make(turn, 1)}
}

// Hold keeps memories from turning cold until release is called. So a caller that
// reads first the cold memories and then the hot ones misses none.
func (k *Keeper) Hold() (release func()) {
	k.still.RLock()
	return k.still.RUnlock
}

// Fetched is how many memories have come back since the node was opened. It waits
// for fetches that are under way.
func (k *Keeper) Fetched() int {
	k.fetching <- struct{}{}
	defer k.fetching.give()
	k.count.Lock()
	defer k.count.Unlock()
	return k.state.Fetched
}

// restAfter is how long the pack store is left alone after it could not be reached.
// Without a network, not every recall has to wait for it.
const restAfter = 15 * time.Second

// body gives a pack's bytes. The caller holds fetching.
func (k *Keeper) body(ctx context.Context, p *store.ColdPack) ([]byte, error) {
	if k.last.pack == p.Number && k.last.body != nil {
		return k.last.body, nil
	}
	if err := k.reachable(); err != nil {
		return nil, err
	}
	b, err := k.c.Packs.Get(ctx, p.At, p.Size)
	if errors.Is(err, ErrLost) { // repair will look at it more closely
		err = errors.Join(err, k.doubt(ctx, p.Number))
	}
	if err := k.asked(p, err); err != nil {
		return nil, err
	}
	k.last = lastBody{p.Number, b}
	return b, nil
}

// reachable says why the pack store is not to be asked now, or nil.
func (k *Keeper) reachable() error {
	if k.c.Packs == nil {
		return fmt.Errorf("%w: sync.relay is not set", ErrUnreachable)
	}
	k.count.Lock()
	defer k.count.Unlock()
	if k.c.Now().Before(k.down) {
		return k.why
	}
	return nil
}

// asked notes how asking the pack store for a pack ended. If the pack store does not have
// this pack, or the caller went away, that says nothing about other packs.
func (k *Keeper) asked(p *store.ColdPack, err error) error {
	k.count.Lock()
	defer k.count.Unlock()
	if err == nil {
		k.down = time.Time{}
		return nil
	}
	err = fmt.Errorf("%w: pack %d: %w", ErrUnreachable, p.Number, err)
	if !errors.Is(err, ErrLost) && !errors.Is(err, context.Canceled) {
		k.down, k.why = k.c.Now().Add(restAfter), err
	}
	return err
}

// Fetch brings memories back, and passes over hot ones. missing are those that
// could not be brought; then err wraps [ErrUnreachable], and the others are here
// all the same. It waits for the fetches of other callers no longer than ctx lasts.
func (k *Keeper) Fetch(ctx context.Context, ids ...memory.ID) (missing []memory.ID, err error) {
	waited := k.fetching.take(ctx)
	if waited == nil {
		defer k.fetching.give()
	}
	byPack := map[uint64][]memory.ID{}
	err = k.c.Store.View(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		for _, id := range ids {
			s, cold, err := tx.Stub(id)
			if err != nil {
				return err
			}
			if cold && !slices.Contains(byPack[s.Pack], id) {
				byPack[s.Pack] = append(byPack[s.Pack], id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var errs []error
	for pack, ids := range byPack {
		err := waited
		if err == nil {
			err = k.thaw(ctx, pack, ids)
		}
		if err != nil {
			errs, missing = append(errs, err), append(missing, ids...)
		}
	}
	return missing, errors.Join(errs...)
}

// thaw brings back some memories of a pack, or all of them if ids is nil. The
// caller holds fetching.
func (k *Keeper) thaw(ctx context.Context, pack uint64, ids []memory.ID) error {
	var p store.ColdPack
	err := k.c.Store.View(ctx, func(tx *store.Tx) (err error) { p, err = tx.Pack(pack); return err })
	if err != nil {
		return err
	}
	b, err := k.body(ctx, &p)
	if err != nil {
		return err
	}
	var back []memory.ID
	err = k.c.Commit(ctx, func(tx *store.Tx) (err error) {
		if back, err = tx.Thaw(pack, b, ids); err != nil || k.c.Thawed == nil || len(back) == 0 {
			return err
		}
		return k.c.Thawed(tx, back)
	})
	if errors.Is(err, store.ErrTooLarge) && len(ids) != 1 { // try them one after the other
		for _, s := range p.Stubs {
			if ids == nil || slices.Contains(ids, s.ID) {
				if err := k.thaw(ctx, pack, []memory.ID{s.ID}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err == nil {
		k.count.Lock()
		k.state.Fetched += len(back)
		k.count.Unlock()
	}
	return err
}

// FetchAll brings everything back. missing is how many memories could not be
// brought.
func (k *Keeper) FetchAll(ctx context.Context) (missing int, err error) {
	packs, err := k.packs(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, p := range packs {
		err := k.fetching.take(ctx)
		if err == nil {
			err = k.thaw(ctx, p.Number, nil)
			k.fetching.give()
		}
		if err != nil {
			errs, missing = append(errs, err), missing+len(p.Stubs)
		}
		if ctx.Err() != nil {
			return missing, ctx.Err()
		}
	}
	return missing, errors.Join(errs...)
}

func (k *Keeper) packs(ctx context.Context) (out []store.ColdPack, err error) {
	err = k.c.Store.View(ctx, func(tx *store.Tx) error {
		out, err = store.Collect(tx.Packs())
		return err
	})
	return out, err
}

// Each gives every cold memory. It fetches them for the call alone and does not
// keep them. Wanted memories come back first, because their stubs may be out of
// date. missing is how many could not be fetched: then err wraps [ErrUnreachable],
// and the others were given.
func (k *Keeper) Each(ctx context.Context, fn func(*store.Cold) error) (missing int, err error) {
	if err := k.fetchAsked(ctx); err != nil && !errors.Is(err, ErrUnreachable) {
		return 0, err
	}
	packs, err := k.packs(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, p := range packs {
		if len(p.Stubs) == 0 {
			continue
		}
		var b []byte
		err := k.fetching.take(ctx)
		if err == nil {
			b, err = k.body(ctx, &p)
			k.fetching.give()
		}
		if err != nil {
			errs, missing = append(errs, err), missing+len(p.Stubs)
			continue
		}
		var all []store.Cold
		err = k.c.Store.View(ctx, func(tx *store.Tx) (err error) { all, err = tx.ReadPack(p.Number, b); return err })
		if errors.Is(err, memory.ErrNotFound) { // the pack was emptied meanwhile: its memories are hot, or erased
			continue
		}
		if err != nil {
			return missing, err
		}
		for i := range all {
			if err := fn(&all[i]); err != nil {
				return missing, err
			}
		}
	}
	return missing, errors.Join(errs...)
}
