package query

import (
	"context"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Categories implements serve.Reader.
func (rd Reader) Categories(ctx context.Context) (out []serve.CategoryCount, err error) {
	counts := map[string]int{}
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			if m.Negates {
				continue
			}
			for _, c := range qr.c.Sorter.Of(m) {
				counts[c]++
			}
		}
		for _, name := range qr.c.Sorter.Names() {
			out = append(out, serve.CategoryCount{Name: name, Memories: counts[name]})
		}
		return nil
	})
	return out, err
}
