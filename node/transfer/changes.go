package transfer

import (
	"context"
	"iter"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
)

// changesPoll is how often a follower looks for changes.
const changesPoll = 200 * time.Millisecond

// Changes implements serve.Exchange.
func (a Archives) Changes(ctx context.Context, after uint64, follow bool) iter.Seq2[memory.Change, error] {
	return func(yield func(memory.Change, error) bool) {
		for {
			var page []memory.Change
			looked, last := 0, after
			err := opened.View(ctx, a.of, func(t *Transfer, tx *store.Tx) error {
				for c, err := range tx.Changes(after) {
					if err != nil {
						return err
					}
					if m, err := tx.Memory(c.Memory); err != nil || !m.Expired(t.c.Now()) { // for a memory that is cold or erased, there is still the change
						page = append(page, c)
					}
					if looked, last = looked+1, c.Seq; looked == 256 {
						return nil
					}
				}
				return nil
			})
			if err != nil {
				if ctx.Err() == nil {
					yield(memory.Change{}, err)
				}
				return
			}
			for _, c := range page {
				if !yield(c, nil) {
					return
				}
			}
			after = last
			if looked == 0 && (!follow || !wait.For(ctx, changesPoll)) {
				return
			}
		}
	}
}
