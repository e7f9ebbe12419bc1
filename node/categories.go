package node

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// categories are the wearer's own, or where there is no file of them the
// default ones.
func (n *Node) categories() (*category.Sorter, error) {
	list, err := config.Categories(n.cfg.Categories)
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = category.Default()
	}
	s, err := category.New(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.cfg.Categories, err)
	}
	return s, nil
}

// Categories implements serve.Reader.
func (n *Node) Categories(ctx context.Context) (out []serve.CategoryCount, err error) {
	counts := map[string]int{}
	err = n.view(ctx, func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			if m.Negates {
				continue
			}
			for _, c := range n.sorter.Of(m) {
				counts[c]++
			}
		}
		return nil
	})
	for _, name := range n.sorter.Names() {
		out = append(out, serve.CategoryCount{Name: name, Memories: counts[name]})
	}
	return out, err
}
