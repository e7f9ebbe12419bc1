package node

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/node/serve"
)

// Rescan implements serve.Refuser. New events come between two old ones.
func (n *Node) Rescan(ctx context.Context) (res serve.Rescanned, err error) {
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		res, err = o.rescan(ctx)
		return err
	})
	return res, err
}

func (o *session) rescan(ctx context.Context) (res serve.Rescanned, err error) {
	end, err := o.plugging.take(ctx) // no other version comes meanwhile
	if err != nil {
		return res, err
	}
	defer end()
	for _, p := range *o.plugins.Load() {
		if p.blocks(p.shown().State) {
			return res, fmt.Errorf("%w: plugin %s takes words away, and does not run: enable it, turn it off or remove it first", serve.ErrConflict, p.manifest.ID)
		}
	}
	got, err := o.extract.Rescan(ctx, func(run func(*engine.Writer) error) error {
		lock := o.engine.Hold()
		defer lock.Release()
		return run(lock)
	})
	return serve.Rescanned{Texts: got.Texts, Left: got.Left, Changes: serve.Some(got.Changes)}, err
}
