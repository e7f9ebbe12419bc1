package plugins

import (
	"context"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// Opened returns the plugins of the open node.
func (pl Plugger) Opened() (*Plugins, func(), error) { return pl.of.Use() }

// CatchUpOnce passes what waited for the plugin that has this id now to that plugin,
// even if another one has the id later.
func (ps *Plugins) CatchUpOnce(id string) func(context.Context) (more bool, err error) {
	p, err := ps.get(id)
	return func(ctx context.Context) (bool, error) {
		if err != nil {
			return false, err
		}
		return ps.catchUpOnce(ctx, p)
	}
}

// AsBuiltIn makes an installed plugin count as a built-in one.
func (ps *Plugins) AsBuiltIn(id string) error {
	p, err := ps.get(id)
	if err != nil {
		return err
	}
	next := *p
	next.source = serve.PluginBuiltIn
	ps.swap(id, &next)
	return nil
}

// CatchUpAt is CatchUp at another time.
func (ps *Plugins) CatchUpAt(ctx context.Context, now time.Time) { ps.catchUp(ctx, now) }
