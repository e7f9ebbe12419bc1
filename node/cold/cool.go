package cold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
)

// packUnits is how many memories are in one pack: some 50 KB, of which a recall
// usually needs one memory.
const packUnits = 64

// Cool turns memories cold until the budget is kept, or until no more can turn
// cold. It returns how many did.
func (k *Keeper) Cool(ctx context.Context) (n int, err error) {
	k.maintaining.Lock()
	defer k.maintaining.Unlock()
	return k.coolLocked(ctx)
}

func (k *Keeper) coolLocked(ctx context.Context) (n int, err error) {
	if k.c.Budget == (tier.Budget{}) {
		return 0, nil
	}
	if err := k.packLines(ctx); err != nil {
		return 0, err
	}
	hot, err := k.hot(ctx)
	if err != nil || !k.due(hot) {
		return 0, err
	}
	if n, err = k.coolMemories(ctx); err != nil || k.c.Packs == nil {
		return n, err
	}
	err = k.coolMedia(ctx)
	if err != nil {
		k.blocked(err.Error())
	}
	if errors.Is(err, errHeld) { // it continues the next time
		err = nil
	}
	return n, err
}

func (k *Keeper) coolMemories(ctx context.Context) (n int, err error) {
	chosen, err := k.choose(ctx)
	if err != nil || len(chosen) == 0 {
		return 0, err
	}
	if k.c.Packs == nil {
		k.blocked("sync.relay is not set: no memory can be moved to cold storage")
		return 0, nil
	}
	covered, err := k.c.FlushIndex(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { k.frozen += n }()
	left := map[string]int{}
	for ids := range slices.Chunk(chosen, packUnits) {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if k.onHold() {
			k.blocked(errHeld.Error())
			return n, nil
		}
		frozen, err := k.freeze(ctx, ids, store.Cooling{Covered: covered, Notes: k.c.Notes, OnFrozen: k.c.OnFrozen}, left)
		n += frozen
		if err != nil {
			k.blocked(err.Error())
			if errors.Is(err, errHeld) { // it continues the next time
				err = nil
			}
			return n, err
		}
	}
	why := ""
	for reason, count := range left {
		if why == "" || count > left[why] {
			why = reason
		}
	}
	if why != "" {
		why = fmt.Sprintf("%d stay: %s", left[why], why)
	}
	k.blocked(why)
	return n, nil
}

// errHeld keeps memories hot while a caller reads everything, see [Keeper.Hold].
var errHeld = errors.New("an export is running; no memory is moved to cold storage until it ends")

// onHold reports whether a caller requires that nothing turns cold now.
func (k *Keeper) onHold() bool {
	if !k.cooling.TryLock() {
		return true
	}
	k.cooling.Unlock()
	return false
}

// blocked records why memories over the budget stay hot.
func (k *Keeper) blocked(why string) {
	k.count.Lock()
	k.state.Blocked = why
	k.count.Unlock()
}

// countEvery is how often, with a budget in bytes, the size of all hot memories is
// measured.
const countEvery = 10 * time.Minute

// due reports whether it is worthwhile to choose memories now.
func (k *Keeper) due(hot int) bool {
	k.count.Lock()
	defer k.count.Unlock()
	s := &k.state
	s.Hot = hot
	if k.c.Budget.Over(hot, 0) {
		return true
	}
	if k.c.Budget.Bytes == 0 {
		return false
	}
	grew := hot > s.weighedAt+s.weighedAt/50
	return s.Weighed.IsZero() || grew || s.Bytes+s.MediaBytes > k.c.Budget.Bytes || k.c.Now().Sub(s.Weighed) > countEvery
}

// choose returns the memories that are to turn cold.
func (k *Keeper) choose(ctx context.Context) (out []memory.ID, err error) {
	var items []tier.Item
	total := int64(0)
	k.count.Lock()
	today := k.today
	k.count.Unlock()
	err = k.c.Store.View(ctx, func(tx *store.Tx) error {
		uses, err := k.c.Uses(tx)
		if err != nil {
			return err
		}
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active, memory.Superseded, memory.Archived, memory.Erased}}) {
			if err != nil {
				return err
			}
			it := tier.ItemOf(m)
			it.Used, it.Last = uses[m.ID].Count, uses[m.ID].Last
			it.Fixed = it.Fixed || today[m.ID] || k.c.HotReason(m) != ""
			if it.Bytes, err = tx.MemorySize(m.ID); err != nil {
				return err
			}
			total += it.Bytes
			items = append(items, it)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	k.count.Lock()
	k.state.Hot, k.state.Bytes, k.state.Weighed, k.state.weighedAt = len(items), total, k.c.Now(), len(items)
	k.count.Unlock()
	return tier.Choose(items, k.c.Budget, k.c.Now()), nil
}

// freeze packs some memories, stores the pack in the pack store, and replaces the
// memories by stubs.
func (k *Keeper) freeze(ctx context.Context, ids []memory.ID, c store.Cooling, left map[string]int) (n int, err error) {
	var p *store.Packed
	err = k.c.Store.View(ctx, func(tx *store.Tx) (err error) { p, err = tx.MakePack(ids, c); return err })
	if err != nil {
		return 0, err
	}
	for _, why := range p.Left {
		left[why]++
	}
	if p.Count == 0 {
		return 0, nil
	}
	at, err := k.c.Packs.Put(ctx, p.Body)
	if err != nil {
		return 0, fmt.Errorf("cold: %w", err)
	}
	if !k.cooling.TryLock() { // do not wait: the holder may be slow
		return 0, errors.Join(errHeld, k.c.Packs.Delete(ctx, at))
	}
	// Cooling frees space, so it must not fail for lack of it.
	err = k.c.Store.UpdateInReserve(ctx, func(tx *store.Tx) (err error) { n, err = tx.Freeze(p, at, c); return err })
	k.cooling.Unlock()
	if errors.Is(err, store.ErrTooLarge) && len(ids) > 1 {
		// The pack is useless now, because nobody has its keys.
		err = k.c.Packs.Delete(ctx, at)
		for half := range slices.Chunk(ids, (len(ids)+1)/2) {
			got, e := k.freeze(ctx, half, c, left)
			n, err = n+got, errors.Join(err, e)
		}
	}
	return n, err
}

// sweepGone deletes packs from the pack store that nothing needs.
func (k *Keeper) sweepGone(ctx context.Context) error {
	packs, err := k.packs(ctx)
	if err != nil {
		return err
	}
	for _, p := range packs {
		if len(p.Stubs) > 0 {
			continue
		}
		if k.c.Packs == nil {
			return nil
		}
		if err := k.c.Packs.Delete(ctx, p.At); err != nil {
			return fmt.Errorf("cold: %w", err)
		}
		if err := k.c.Store.UpdateInReserve(ctx, func(tx *store.Tx) error { return tx.DropPack(p.Number) }); err != nil {
			return err
		}
	}
	return nil
}

// The files are rewritten after so many memories have turned cold, or when they
// have grown by half and by at least some MB. Until then they also contain the old
// versions.
const (
	compactAfter = 2000
	compactGrown = 12 << 20 // bytes

	// so many utterances take about as much space as a memory, before they are
	// packed
	linesOfMemory = 3

	// used by CoolDuringSync, during a large operation
	easeFrozen = 10_000
	easeGrown  = 32 << 20
)

// rewrittenMeta is how many bytes the records took when they were last rewritten.
const rewrittenMeta = "tiers/rewritten"

// compact frees the disk space of what turned cold or was replaced, if there is
// enough of it.
func (k *Keeper) compact(ctx context.Context) error {
	return k.compactAt(ctx, compactAfter, compactGrown)
}

func (k *Keeper) compactAt(ctx context.Context, frozen int, grown uint64) error {
	due, err := k.compactDue(ctx, frozen, grown)
	if err != nil || !due {
		return err
	}
	if err := k.withFreedMemory(ctx, k.c.Store.Compact); err != nil {
		return err
	}
	k.frozen, k.packed = 0, 0
	size, err := k.c.Store.RecordBytes()
	if err != nil {
		return err
	}
	return k.c.Store.UpdateInReserve(ctx, func(tx *store.Tx) error { return tx.PutMeta(rewrittenMeta, size) })
}

func (k *Keeper) withFreedMemory(ctx context.Context, do func(context.Context) error) error {
	if k.c.WithFreedMemory == nil {
		return do(ctx)
	}
	return k.c.WithFreedMemory(ctx, do)
}

// compactDue looks at the files only if there is a budget. Without one the disk is
// large.
func (k *Keeper) compactDue(ctx context.Context, frozen int, grown uint64) (bool, error) {
	if k.frozen+k.packed/linesOfMemory >= frozen {
		return true, nil
	}
	if k.c.Budget.Bytes == 0 {
		return false, nil
	}
	size, err := k.c.Store.RecordBytes()
	if err != nil {
		return false, err
	}
	var then uint64
	err = k.c.Store.View(ctx, func(tx *store.Tx) (err error) { _, err = tx.Meta(rewrittenMeta, &then); return err })
	return size > then+max(then/2, grown), err
}
