package plugins

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/node/serve"
)

// Rescan implements serve.Refuser. New events are processed between two old
// ones.
func (pl Plugger) Rescan(ctx context.Context) (res serve.Rescanned, err error) {
	err = pl.of.During(ctx, func(ctx context.Context, ps *Plugins) error {
		res, err = ps.rescan(ctx)
		return err
	})
	return res, err
}

func (ps *Plugins) rescan(ctx context.Context) (res serve.Rescanned, err error) {
	end, err := ps.Turn(ctx) // so that no other version is installed meanwhile
	if err != nil {
		return res, err
	}
	defer end()
	for _, p := range *ps.list.Load() {
		if p.blocks(p.toAPI().State) {
			return res, fmt.Errorf("%w: plugin %s takes words away, but does not run: enable it, turn it off or remove it first", serve.ErrConflict, p.manifest.ID)
		}
	}
	got, err := ps.extract.Rescan(ctx, func(run func(*engine.Writer) error) error {
		lock := ps.c.Engine.AcquireWriter()
		defer lock.Release()
		return run(lock)
	})
	return serve.Rescanned{Texts: got.Texts, Left: got.Left, Changes: serve.NonNil(got.Changes)}, err
}
