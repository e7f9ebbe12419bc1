package cold

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
)

// easing is how a keeper gives way while much comes.
type easing struct {
	above int       // hot memories up to which it is left alone
	until time.Time // and for how long, after it went wrong
}

// easeRest is for how long nothing is tried after it went wrong: whoever brings
// more than the budget meanwhile goes on.
const easeRest = time.Minute

// Ease is Cool for the middle of something that brings much more than the
// budget: it lets a quarter more than that pass, so that a choice is worth its
// while, and the files are written anew more seldom than [Keeper.Tend] does.
// After an error it does nothing for a minute.
func (k *Keeper) Ease(ctx context.Context) error {
	k.tending.Lock()
	defer k.tending.Unlock()
	if k.c.Now().Before(k.ease.until) {
		return nil
	}
	hot, err := k.hot(ctx)
	if err != nil || hot <= k.ease.above || !k.crowded(hot) {
		return err
	}
	_, err = k.coolNow(ctx)
	if err == nil {
		err = k.compactAt(ctx, easeFrozen, easeGrown)
	}
	if err != nil {
		k.ease.until = k.c.Now().Add(easeRest)
		return err
	}
	// What has to stay is not looked at again for each few that come.
	hot, err = k.hot(ctx)
	k.ease.above = 0
	if k.crowded(hot) {
		k.ease.above = hot + hot/4
	}
	return err
}

func (k *Keeper) hot(ctx context.Context) (n int, err error) {
	err = k.c.Store.View(ctx, func(tx *store.Tx) error { n, err = tx.HotCount(); return err })
	return n, err
}

// perMemory is about what one takes here, in bytes, before any was weighed.
const perMemory = 2 << 10

// crowded reports whether so many hot memories are over the budget by a quarter;
// what they take is guessed from when they were last weighed.
func (k *Keeper) crowded(hot int) bool {
	k.count.Lock()
	defer k.count.Unlock()
	each := int64(perMemory)
	if k.state.weighedAt > 0 {
		each = k.state.Bytes / int64(k.state.weighedAt)
	}
	b := k.c.Budget
	return tier.Budget{Records: b.Records + b.Records/4, Bytes: b.Bytes + b.Bytes/4}.Over(hot, int64(hot)*each)
}
