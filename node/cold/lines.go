package cold

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory/store"
)

// Utterances don't turn cold. With a budget they are packed: a page of many is one
// record, and they are still whole on this device. That needs no pack store.

// restAt is the age from which an utterance may be packed. By then its session is
// over, and nothing looks at its day again.
const restAt = 24 * time.Hour

// packLoose is how many unpacked utterances make it worth writing pages.
const packLoose = 128

// resting is what the last look left unpacked, so that utterances that can't be
// packed are not looked at again and again.
type resting struct {
	left int
	at   time.Time
}

// packLines packs the utterances that are old. The caller holds tending.
func (k *Keeper) packLines(ctx context.Context) error {
	now := k.c.Now()
	before := now.Add(-restAt)
	loose := func() (n int, err error) {
		err = k.c.Store.View(ctx, func(tx *store.Tx) (err error) { n, err = tx.LooseUtterances(before); return err })
		return n, err
	}
	n, err := loose()
	if err != nil || n < packLoose || n < k.rest.left+packLoose && now.Sub(k.rest.at) < countEvery {
		return err
	}
	covered, err := k.c.Covered(ctx)
	if err != nil {
		return err
	}
	for since, more := (time.Time{}), true; more; {
		// Packing gives room, so it must not stop for want of it.
		err := k.c.Store.Relieve(ctx, func(tx *store.Tx) error {
			packed, next, err := tx.PackUtterances(since, before, covered)
			k.packed += packed
			since, more = next, !next.IsZero()
			return err
		})
		if err != nil {
			return err
		}
	}
	k.rest.at = now
	k.rest.left, err = loose()
	return err
}
