package node

import (
	"context"

	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/trust"
)

// pluginHome is what an installation is held against.
func (o *session) pluginHome() trust.Home {
	var taken []string
	for _, p := range *o.plugins.Load() {
		if p.source == serve.PluginBuiltIn {
			taken = append(taken, p.manifest.ID)
		}
	}
	return o.folder.Home(taken)
}

// PlanPlugin implements serve.Plugger.
func (n *Node) PlanPlugin(_ context.Context, r serve.InstallPluginRequest) (serve.PluginPlan, error) {
	o, release, err := n.use()
	if err != nil {
		return serve.PluginPlan{}, err
	}
	defer release()
	pkg := installed.Package{Manifest: []byte(r.Manifest), Signature: r.Signature, Module: r.Module, Unsigned: r.Unsigned, Lookalike: r.Lookalike}
	_, plan, err := installed.Plan(&pkg, o.pluginHome())
	if err != nil {
		return serve.PluginPlan{}, refusedPlugin(err)
	}
	return plan, nil
}

// UnpinPlugin implements serve.Plugger.
func (n *Node) UnpinPlugin(ctx context.Context, id string) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	end, err := o.plugging.take(ctx)
	if err != nil {
		return err
	}
	defer end()
	return refusedPlugin(o.folder.Unpin(id))
}
