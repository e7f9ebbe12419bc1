package cold

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory/store"
)

// Utterances don't turn cold. With a budget they are packed into pages: many of
// them become one record, and stay complete on this device. That needs no pack
// store.

// restAt is the age from which an utterance may be packed. By then its session is
// over, and nothing looks at its day again.
const restAt = 24 * time.Hour

// packLoose is the number of unpacked utterances from which it is worthwhile to
// write pages.
const packLoose = 128

// resting is what the last attempt left unpacked, so that utterances that can't be
// packed are not tried again and again.
type resting struct {
	left int
	at   time.Time
}

// packLines packs old utterances. The caller holds maintaining.
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
	covered, err := k.c.FlushIndex(ctx)
	if err != nil {
		return err
	}
	for since, more := (time.Time{}), true; more; {
		// Packing frees space, so it must not fail for lack of it.
		err := k.c.Store.UpdateInReserve(ctx, func(tx *store.Tx) error {
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
