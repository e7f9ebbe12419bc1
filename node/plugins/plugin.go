package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

// plugin is an extractor of the home, running or not. It does not change once it is
// in the list; a change replaces it.
type plugin struct {
	manifest wasm.Manifest
	source   string           // serve.PluginBuiltIn, …
	entry    *installed.Entry // nil: not installed by the wearer
	open     func() ([]byte, error)
	state    string
	err      error        // why it is broken
	run      *wasm.Plugin // nil if it doesn't run
}

// runner is a plugin as package extract calls it. If faults have disabled the
// plugin, each call fails: texts must not get past a plugin that looks for secrets,
// and events may wait for the plugin.
type runner struct{ p *plugin }

func (r runner) ID() string      { return r.p.manifest.ID }
func (r runner) Version() string { return r.p.manifest.Version }

// RunsFirst reports whether the plugin may redact. Such plugins see texts before the
// others.
func (r runner) RunsFirst() bool { return r.p.manifest.Has(wasm.CapRedact) }

func (r runner) Wants(kind string) bool { return r.p.manifest.Takes(kind) }

// Reads implements extract.Reader.
func (r runner) Reads() (types []memory.Type) {
	for _, t := range r.p.manifest.Memories {
		types = append(types, memory.Type(t))
	}
	return types
}

// UsesLocalTime implements extract.LocalTimePlugin.
func (r runner) UsesLocalTime() bool { return r.p.manifest.Times == wasm.TimesLocal }

// DefersEvents implements extract.DeferringPlugin.
func (r runner) DefersEvents(failed error) bool {
	return r.p.manifest.Waits() && (r.p.run == nil || r.p.run.Disabled() || errors.Is(failed, wasm.ErrStarved))
}

func (r runner) Extract(ctx context.Context, ev *abi.Event) (abi.Output, error) {
	out, _, err := r.Measure(ctx, ev)
	return out, err
}

// Measure implements extract.Measured.
func (r runner) Measure(ctx context.Context, ev *abi.Event) (abi.Output, extract.Usage, error) {
	if r.p.run == nil {
		return abi.Output{}, extract.Usage{}, fmt.Errorf("%w: %s", wasm.ErrDisabled, r.ID())
	}
	out, u, err := r.p.run.Extract(ctx, ev)
	took := extract.Usage{Fuel: u.Fuel, Time: u.Time, Memory: u.Memory, In: u.In, Out: u.Out, Late: u.Late}
	for _, d := range u.Dropped {
		took.Dropped = append(took.Dropped, d.Reason.Error())
	}
	return out, took, err
}

// PublicError implements extract.Measured.
func (runner) PublicError(err error) string {
	var f *wasm.Fault
	switch {
	case errors.As(err, &f):
		return string(f.Kind)
	case errors.Is(err, wasm.ErrDisabled):
		return "disabled"
	case errors.Is(err, wasm.ErrPlugin):
		return "its own error"
	}
	return "failed"
}

// start compiles the plugin and makes it ready. A built-in one runs in this
// process, others in a worker.
func (p *plugin) start(ctx context.Context, h *wasm.Host) (err error) {
	var settings map[string]string
	if p.entry != nil {
		settings = p.entry.Settings
	}
	if p.source == serve.PluginBuiltIn {
		p.run, err = h.LoadFrom(ctx, p.open, p.manifest, settings)
	} else {
		p.run, err = h.LoadApart(ctx, p.open, p.manifest, settings)
	}
	return err
}

// agreedTo returns what is known of a plugin whose manifest can't be read: the
// capabilities that the wearer agreed to, from the record.
func agreedTo(e *installed.Entry) wasm.Manifest {
	m := wasm.Manifest{ID: e.ID}
	for _, ask := range e.Agreed {
		if kind, ok := strings.CutPrefix(ask, "sees "); ok {
			m.Kinds = append(m.Kinds, kind)
		} else if c, ok := strings.CutPrefix(ask, "may "); ok {
			m.Capabilities = append(m.Capabilities, wasm.Capability(c))
		}
	}
	return m
}

// blocks reports whether the plugin may redact but does not run, although the
// wearer has not turned it off. Then no other plugin is shown a text, because this
// one has not seen it.
func (p *plugin) blocks(state string) bool {
	return (state == serve.PluginFaulted || state == serve.PluginBroken) && p.manifest.Has(wasm.CapRedact)
}

// readManifest reads the manifest beside a module.
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
