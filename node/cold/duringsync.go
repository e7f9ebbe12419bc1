package cold

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
)

// easing is the state of [Keeper.CoolDuringSync].
type easing struct {
	above int       // CoolDuringSync does nothing up to this number of hot memories
	until time.Time // after an error, CoolDuringSync does nothing until then
}

// easeRest is how long CoolDuringSync does nothing after an error. The large operation goes on
// meanwhile.
const easeRest = time.Minute

// CoolDuringSync is Cool during an operation that brings much more than the budget. It waits until
// there is a quarter more than that, so that choosing is worthwhile, and rewrites the
// files less often than [Keeper.Maintain] does. In a small store it also does what the
// store would do soon anyway, because memory is available for it now, while the plugins
// use little. After an error it does nothing for a minute.
func (k *Keeper) CoolDuringSync(ctx context.Context) error {
	k.maintaining.Lock()
	defer k.maintaining.Unlock()
	if k.c.Now().Before(k.ease.until) {
		return nil
	}
	hot, err := k.hot(ctx)
	if err != nil {
		return err
	}
	crowded := hot > k.ease.above && k.isQuarterOver(hot)
	if !crowded && !k.c.Store.NeedsFlush() {
		return nil
	}
	err = k.withFreedMemory(ctx, func(context.Context) error { return nil }) // choosing and packing use the freed memory, too
	if err == nil && crowded {
		err = k.coolDuringSync(ctx)
	}
	if err == nil {
		err = k.withFreedMemory(ctx, k.c.Store.FlushAndCompact)
	}
	if err != nil {
		k.ease.until = k.c.Now().Add(easeRest)
	}
	return err
}

func (k *Keeper) coolDuringSync(ctx context.Context) error {
	if _, err := k.coolLocked(ctx); err != nil {
		return err
	}
	if err := k.compactAt(ctx, easeFrozen, easeGrown); err != nil {
		return err
	}
	// Memories that have to stay are not checked again each time a few more arrive.
	hot, err := k.hot(ctx)
	k.ease.above = 0
	if k.isQuarterOver(hot) {
		k.ease.above = hot + hot/4
	}
	return err
}

func (k *Keeper) hot(ctx context.Context) (n int, err error) {
	err = k.c.Store.View(ctx, func(tx *store.Tx) error { n, err = tx.HotCount(); return err })
	return n, err
}

// perMemory is about how many bytes a memory takes here, before any was measured.
const perMemory = 2 << 10

// isQuarterOver reports whether so many hot memories exceed the budget by a quarter. It
// estimates their size from the last measurement.
func (k *Keeper) isQuarterOver(hot int) bool {
	k.count.Lock()
	defer k.count.Unlock()
	each := int64(perMemory)
	if k.state.weighedAt > 0 {
		each = k.state.Bytes / int64(k.state.weighedAt)
	}
	b := k.c.Budget
	return tier.Budget{Records: b.Records + b.Records/4, Bytes: b.Bytes + b.Bytes/4}.Over(hot, int64(hot)*each)
}
