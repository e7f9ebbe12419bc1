// Package cold keeps a node's store within its budget: the memories that are used least turn
// cold, and are fetched again when they are recalled, or in advance for a day that may need
// them.
//
//   - A [PackStore] is where packs are stored: the relay, as this device sees it.
//   - To cool is to turn memories cold until the budget is kept.
//   - To fetch is to bring cold ones back, with their groups.
//   - A memory is missing if it is cold and the pack store can't be reached now.
//
// Package tier decides which memories turn cold, and package store defines the format of a
// pack.
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

// PackStore stores packs. Implementations are safe for concurrent use.
type PackStore interface {
	// Put returns once the pack is stored, with its name in the pack store. The same bytes
	// have the same name.
	Put(ctx context.Context, body []byte) (at []byte, err error)
	// Get returns a pack of a given size, complete and unaltered. The error is [ErrLost] if
	// the pack store was reached and does not have the pack in this form.
	Get(ctx context.Context, at []byte, size int64) ([]byte, error)
	// Piece returns n bytes of a pack of a given size, from an offset, without checking them.
	// The error is [ErrLost] if the pack store was reached and has no such pack.
	Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error)
	// Delete removes a pack. It is no error if there is none.
	Delete(ctx context.Context, at []byte) error
}

// ErrUnreachable: the pack store can't be reached now, so cold memories are missing.
var ErrUnreachable = errors.New("cold memories can't be fetched now")

// ErrLost: the pack store does not have a pack, or has altered it.
var ErrLost = errors.New("the pack store does not have the pack, or has it altered")

// Config is what a Keeper needs. Store and Commit are required.
type Config struct {
	Store  *store.Store
	Packs  PackStore // nil: there is none, and nothing turns cold
	Budget tier.Budget

	// Commit changes the records and updates the index.
	Commit func(ctx context.Context, fn func(*store.Tx) error) error
	// FlushIndex writes the index's segments. It returns the place in the document log up to
	// which they contain everything.
	FlushIndex func(ctx context.Context) (uint64, error)
	Notes      func(memory.ID) []string // see store.Cooling
	OnFrozen   func(*store.Tx, []memory.Assertion) error
	// OnThawed is called with the memories that came back, within the transaction. Otherwise
	// the index has not seen their changes. May be nil.
	OnThawed func(*store.Tx, []memory.ID) error
	// EnsureStored makes sure that the pack store has a photo or recording just as it is here,
	// and can give it back. It is false if the blob was not sent, or differs there.
	// If EnsureStored is nil, photos and recordings stay.
	EnsureStored func(ctx context.Context, blob memory.ID) (bool, error)
	// HotReason returns why a memory stays hot for a reason of the node. It is empty if the
	// memory need not stay.
	HotReason func(*memory.Memory) string
	// Uses returns how often each memory was used on this device.
	Uses func(*store.Tx) (map[memory.ID]Use, error)
	// ResumeWaiting continues what waited for groups that are back. It is called at each Maintain, and
	// does little if nothing waits.
	ResumeWaiting func(ctx context.Context) error
	// WithFreedMemory calls do, which takes more memory than anything else: it rewrites or compacts the
	// records. Before that it frees what can be loaded again, which is not loaded before do
	// has returned. If WithFreedMemory is nil, do is called directly.
	WithFreedMemory func(ctx context.Context, do func(context.Context) error) error
	Log             *slog.Logger
	Now             func() time.Time // nil: time.Now
}

// Use is how often a memory was used, and when it was last.
type Use struct {
	Count int
	Last  time.Time
}

// Keeper keeps the budget. Its methods are safe for concurrent use. Only one of Cool,
// Maintain and CoolDuringSync runs at a time; the others wait.
type Keeper struct {
	c Config

	maintaining sync.Mutex // held by Cool, Maintain and CoolDuringSync; taken before fetching

	fetching turn // held while packs are fetched from the pack store and their memories are put back
	last     lastBody

	cooling sync.RWMutex // held for reading by callers during which nothing may turn cold, see Hold

	ease   easing     // guarded by maintaining
	rest   resting    // guarded by maintaining
	count  sync.Mutex // guards the fields below, except frozen and packed; never held for long
	state  Status
	down   time.Time          // the pack store is not contacted again until then
	why    error              // why not
	today  map[memory.ID]bool // fetched for the day
	frozen int                // memories that turned cold since the files were last rewritten
	packed int                // utterances that were packed since then
}

// turn is a lock whose waiters may give up, because its holder may have to wait long for the
// pack store.
type turn chan struct{}

func (t turn) acquire(ctx context.Context) error {
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

func (t turn) release() { <-t }

// lastBody is the pack that was fetched last. Memories in it turned cold together, and are
// often needed together.
type lastBody struct {
	pack uint64
	body []byte
}

// New makes a Keeper that does nothing by itself.
func New(c Config) *Keeper {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.HotReason == nil {
		c.HotReason = func(*memory.Memory) string { return "" }
	}
	if c.Uses == nil {
		c.Uses = func(*store.Tx) (map[memory.ID]Use, error) { return nil, nil }
	}
	return &Keeper{c: c, fetching: make(turn, 1)}
}

// Hold keeps memories from turning cold until release is called. A caller that reads first
// the cold memories and then the hot ones then misses none.
func (k *Keeper) Hold() (release func()) {
	k.cooling.RLock()
	return k.cooling.RUnlock
}

// Fetched returns how many memories have come back since the node was opened. It waits for
// current fetches.
func (k *Keeper) Fetched() int {
	k.fetching <- struct{}{}
	defer k.fetching.release()
	k.count.Lock()
	defer k.count.Unlock()
	return k.state.Fetched
}

// restAfter is how long the pack store is not contacted after it could not be reached.
// Without it, every recall would have to wait if there is no network.
const restAfter = 15 * time.Second

// body returns a pack's bytes. The caller holds fetching.
func (k *Keeper) body(ctx context.Context, p *store.ColdPack) ([]byte, error) {
	if k.last.pack == p.Number && k.last.body != nil {
		return k.last.body, nil
	}
	if err := k.reachable(); err != nil {
		return nil, err
	}
	b, err := k.c.Packs.Get(ctx, p.At, p.Size)
	if errors.Is(err, ErrLost) { // a repair will look at it more closely
		err = errors.Join(err, k.noteDoubted(ctx, p.Number))
	}
	if err := k.noteRequest(p, err); err != nil {
		return nil, err
	}
	k.last = lastBody{p.Number, b}
	return b, nil
}

// reachable returns why the pack store must not be contacted now, or nil.
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

// noteRequest records the result of requesting a pack from the pack store. If the pack store does
// not have this pack, or the caller has left, that says nothing about other packs.
func (k *Keeper) noteRequest(p *store.ColdPack, err error) error {
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

// Fetch brings memories back, and skips hot ones. missing are those that could not be
// fetched; then err wraps [ErrUnreachable], and the others were fetched nevertheless. It
// waits for the fetches of other callers no longer than ctx lasts.
func (k *Keeper) Fetch(ctx context.Context, ids ...memory.ID) (missing []memory.ID, err error) {
	waited := k.fetching.acquire(ctx)
	if waited == nil {
		defer k.fetching.release()
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
		if back, err = tx.Thaw(pack, b, ids); err != nil || k.c.OnThawed == nil || len(back) == 0 {
			return err
		}
		return k.c.OnThawed(tx, back)
	})
	if errors.Is(err, store.ErrTooLarge) && len(ids) != 1 { // try them one by one
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

// FetchAll brings everything back. missing is how many memories could not be fetched.
func (k *Keeper) FetchAll(ctx context.Context) (missing int, err error) {
	packs, err := k.packs(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, p := range packs {
		err := k.fetching.acquire(ctx)
		if err == nil {
			err = k.thaw(ctx, p.Number, nil)
			k.fetching.release()
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

// Each calls fn with every cold memory. It fetches them only for that call and does not keep
// them. Wanted memories are brought back first, because their stubs may be out of date.
// missing is how many could not be fetched: then err wraps [ErrUnreachable], and fn was
// called with the others.
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
		err := k.fetching.acquire(ctx)
		if err == nil {
			b, err = k.body(ctx, &p)
			k.fetching.release()
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
