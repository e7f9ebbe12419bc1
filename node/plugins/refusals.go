package plugins

import (
	"context"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Tally implements serve.Refuser.
func (pl Plugger) Tally(ctx context.Context) (out serve.Tally, err error) {
	err = opened.View(ctx, pl.of, func(_ *Plugins, tx *store.Tx) error {
		c, err := tx.Tally()
		out = serve.NewTally(c.Taken, c.Refused)
		return err
	})
	return out, err
}

// Refusals implements serve.Refuser.
func (pl Plugger) Refusals(ctx context.Context, limit int) ([]memory.Refusal, error) {
	out := []memory.Refusal{}
	err := opened.View(ctx, pl.of, func(_ *Plugins, tx *store.Tx) error {
		for r, err := range tx.Refusals() {
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		return nil
	})
	sorting.Stable(out, func(a, b memory.Refusal) int { return b.At.Compare(a.At) })
	return out[:min(limit, len(out))], err
}
