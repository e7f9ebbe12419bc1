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
		return qr.overview.look(ctx, tx, func() error {
			for _, l := range qr.overview.by {
				if l.state != memory.Active || l.negates {
					continue
				}
				for _, c := range l.categories {
					counts[c]++
				}
			}
			for _, name := range qr.c.Sorter.Names() {
				out = append(out, serve.CategoryCount{Name: name, Memories: counts[name]})
			}
			return nil
		})
	})
	return out, err
}
