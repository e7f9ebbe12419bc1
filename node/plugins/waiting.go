package plugins

import (
	"context"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// catchUpStep is how many waiting events a plugin gets before the pump looks for new
// ones.
const catchUpStep = 64

// pause is how long faults disable a built-in plugin. The wearer did not install it, and
// would not think of enabling it.
const pause = time.Minute

// CatchUp enables built-in plugins after their pause, and gives waiting events to
// plugins that run again.
func (ps *Plugins) CatchUp(ctx context.Context) { ps.catchUp(ctx, time.Now()) }

func (ps *Plugins) catchUp(ctx context.Context, now time.Time) {
	for _, p := range *ps.list.Load() {
		if p.source == serve.PluginBuiltIn && p.run != nil {
			if since := p.run.DisabledSince(); !since.IsZero() && now.Sub(since) >= pause {
				ps.c.Log.Info("a built-in plugin that faults had disabled is tried again", "plugin", p.manifest.ID)
				p.run.Enable()
			}
		}
		var err error
		for i, more := 0, true; more && i < catchUpStep; i++ {
			more, err = ps.catchUpOnce(ctx, p)
		}
		if err != nil && ctx.Err() == nil {
			ps.c.Log.Warn("events that waited for a plugin still wait", "plugin", p.manifest.ID, "error", err)
		}
	}
}

// catchUpOnce gives a plugin one event that waited for it, and reports whether there may
// be more. Between two events other writers get their turn. A plugin that was replaced
// meanwhile is skipped: it is closed, and would lose events that wait for its successor.
func (ps *Plugins) catchUpOnce(ctx context.Context, p *plugin) (more bool, err error) {
	lock := ps.c.Engine.AcquireWriter()
	defer lock.Release()
	r := runner{p}
	if now, err := ps.get(p.manifest.ID); err != nil || now != p || p.run == nil || !p.manifest.Waits() || r.DefersEvents(nil) {
		return false, nil // no event waits, or the events have to go on waiting
	}
	if left, err := ps.extract.Deferred(ctx, r.ID()); err != nil || left == 0 {
		return false, err
	}
	_, err = ps.extract.CatchUp(ctx, lock, r, 1)
	return err == nil, err
}
