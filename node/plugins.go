package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins"
)

// plugin is a wasm.Plugin as package extract calls it.
type plugin struct{ *wasm.Plugin }

func (p *plugin) ID() string      { return p.Manifest().ID }
func (p *plugin) Version() string { return p.Manifest().Version }

// First are those that may take words away: they come before all that see words.
func (p *plugin) First() bool { return slices.Contains(p.Manifest().Capabilities, wasm.CapRedact) }

func (p *plugin) Wants(kind string) bool { return slices.Contains(p.Manifest().Kinds, kind) }

func (p *plugin) Extract(ctx context.Context, ev *abi.Event) (abi.Output, error) {
	out, _, err := p.Plugin.Extract(ctx, ev)
	return out, err
}

// loadPlugins compiles the built-in extractors and those in the plugins
// folder, NAME.wasm beside NAME.toml, but for those that are disabled.
func (n *Node) loadPlugins(ctx context.Context, h *wasm.Host) ([]*plugin, error) {
	bundles, err := plugins.All()
	if err != nil {
		return nil, fmt.Errorf("built-in plugins: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(n.cfg.Plugins.Dir, "*.wasm"))
	if err != nil {
		return nil, fmt.Errorf("plugins: %w", err)
	}
	for _, f := range files {
		m, err := readManifest(f)
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, plugins.Bundle{Manifest: m, Open: func() ([]byte, error) { return os.ReadFile(f) }})
	}
	slices.SortStableFunc(bundles, func(a, b plugins.Bundle) int { return a.Manifest.Stage - b.Manifest.Stage })
	var out []*plugin
	for _, b := range bundles {
		if slices.Contains(n.cfg.Plugins.Disabled, b.Manifest.ID) {
			continue
		}
		p, err := h.LoadFrom(ctx, b.Open, b.Manifest, nil)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", b.Manifest.ID, err)
		}
		out = append(out, &plugin{p})
	}
	return out, nil
}

// readManifest reads the manifest that lies beside a module.
func readManifest(module string) (wasm.Manifest, error) {
	name := strings.TrimSuffix(module, ".wasm") + ".toml"
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return wasm.Manifest{}, fmt.Errorf("plugin %s: its manifest %s is not there", module, name)
	}
	if err != nil {
		return wasm.Manifest{}, fmt.Errorf("plugin %s: %w", module, err)
	}
	m, err := wasm.ParseManifest(b)
	if err != nil {
		return wasm.Manifest{}, fmt.Errorf("plugin %s: %w", name, err)
	}
	return m, nil
}

func asExtract(ps []*plugin) []extract.Plugin {
	out := make([]extract.Plugin, len(ps))
	for i, p := range ps {
		out[i] = p
	}
	return out
}
