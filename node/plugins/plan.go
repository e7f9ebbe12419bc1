package plugins

import (
	"context"

	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/trust"
)

// home returns what an installation is checked against.
func (ps *Plugins) home() trust.Home {
	var taken []string
	for _, p := range *ps.list.Load() {
		if p.source == serve.PluginBuiltIn {
			taken = append(taken, p.manifest.ID)
		}
	}
	return ps.folder.Home(taken)
}

// PlanPlugin implements serve.Plugger.
func (pl Plugger) PlanPlugin(_ context.Context, r serve.InstallPluginRequest) (serve.PluginPlan, error) {
	ps, release, err := pl.of.Use()
	if err != nil {
		return serve.PluginPlan{}, err
	}
	defer release()
	pkg := installed.Package{Manifest: []byte(r.Manifest), Signature: r.Signature, Module: r.Module, Unsigned: r.Unsigned, Lookalike: r.Lookalike}
	_, plan, err := installed.Plan(&pkg, ps.home())
	if err != nil {
		return serve.PluginPlan{}, refusedPlugin(err)
	}
	return plan, nil
}

// PluginPin implements serve.Plugger.
func (pl Plugger) PluginPin(_ context.Context, id string) (serve.PluginPin, error) {
	ps, release, err := pl.of.Use()
	if err != nil {
		return serve.PluginPin{}, err
	}
	defer release()
	pin, err := ps.folder.Pin(id)
	if err != nil {
		return serve.PluginPin{}, refusedPlugin(err)
	}
	return serve.PluginPin{ID: id, Publisher: pin.Publisher, Version: pin.Version}, nil
}

// UnpinPlugin implements serve.Plugger.
func (pl Plugger) UnpinPlugin(ctx context.Context, id string) error {
	ps, done, err := pl.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return refusedPlugin(ps.folder.Unpin(id))
}
