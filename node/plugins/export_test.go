package plugins

import "context"

// Opened gives the plugins of the node that is open.
func (pl Plugger) Opened() (*Plugins, func(), error) { return pl.of.Use() }

// CatchUpOnce gives what waited for the plugin that has this id now to it, whichever
// has the id then.
func (ps *Plugins) CatchUpOnce(id string) func(context.Context) (more bool, err error) {
	p, err := ps.get(id)
	return func(ctx context.Context) (bool, error) {
		if err != nil {
			return false, err
		}
		return ps.catchUpOnce(ctx, p)
	}
}
