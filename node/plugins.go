package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins"
)

// plugin is an extractor that the home has, running or not. It doesn't change
// once it is in the list; what changes is replaced.
type plugin struct {
	manifest wasm.Manifest
	source   string           // serve.PluginBuiltIn, …
	entry    *installed.Entry // nil: not installed by the wearer
	open     func() ([]byte, error)
	state    string
	err      error        // why it is broken
	run      *wasm.Plugin // nil where it doesn't run
}

// runner is a plugin as package extract calls it. One that faults have
// disabled fails each call: what takes words away is not passed by for that,
// and events may wait for it.
type runner struct{ p *plugin }

func (r runner) ID() string      { return r.p.manifest.ID }
func (r runner) Version() string { return r.p.manifest.Version }

// First are those that may take words away: they come before all that see words.
func (r runner) First() bool { return r.p.manifest.Has(wasm.CapRedact) }

func (r runner) Wants(kind string) bool { return r.p.manifest.Takes(kind) }

// Reads implements extract.Reader.
func (r runner) Reads() (types []memory.Type) {
	for _, t := range r.p.manifest.Memories {
		types = append(types, memory.Type(t))
	}
	return types
}

// Waits implements extract.Patient.
func (r runner) Waits(failed error) bool {
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

// Named implements extract.Measured.
func (runner) Named(err error) string {
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

// pluginsIdle is how long the plugins are kept ready after an event: they take
// 80 MB, and some 0.2 s to come back from the cache.
const pluginsIdle = time.Minute

// openHost makes the plugins' host. Machine code is sealed with a key that only
// an open node has; where several homes share a cache, with one of its own.
func (n *Node) openHost(ctx context.Context, o *session) (err error) {
	opt := wasm.Options{CacheDir: n.cache, Logger: n.log, Worker: n.worker, OnFault: n.onFault(o), Idle: pluginsIdle, NoSpare: n.cfg.Profile == config.Wearable}
	if n.cache == n.path(cacheDir) {
		k := o.ring.StoreKey().Derive("plugin cache")
		defer k.Zero()
		opt.CacheKey = k.Bytes()
	} else if opt.CacheKey, err = wasm.CacheKey(n.cache + ".key"); err != nil {
		return err
	}
	o.host, err = wasm.NewHost(ctx, opt)
	return err
}

// onFault writes down that faults have disabled a plugin that was installed:
// it stays so until the wearer enables it. A built-in one is tried again with
// the next start.
func (n *Node) onFault(o *session) func(wasm.Fault) {
	return func(f wasm.Fault) {
		if !f.Disabled {
			return
		}
		if p, err := o.plugin(f.Plugin); err == nil && p.manifest.Has(wasm.CapRedact) {
			n.log.Error("a plugin that takes words away is disabled after faults: all that is said is set aside until it is enabled, turned off or removed", "plugin", f.Plugin)
		}
		if _, err := o.folder.Get(f.Plugin); err != nil {
			return
		}
		if err := o.folder.Set(f.Plugin, false, true); err != nil {
			n.log.Error("plugin is disabled, which is not written down", "plugin", f.Plugin, "error", err)
		}
	}
}

// loadPlugins finds and starts the built-in extractors, those that are
// installed, and those that lie in the plugins folder. A built-in one or one
// of the folder that can't be loaded is an error; one that is installed is
// broken, and said to be.
func (n *Node) loadPlugins(ctx context.Context, o *session) error {
	if err := n.openFolder(ctx, o); err != nil {
		return err
	}
	all, err := n.findPlugins(o.folder)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.state != serve.PluginRuns {
			continue
		}
		if err := p.start(ctx, o.host); err != nil && p.entry == nil {
			return fmt.Errorf("plugin %s: %w", p.manifest.ID, err)
		} else if err != nil {
			p.state, p.err = serve.PluginBroken, err
			n.log.Error("plugin not loaded", "plugin", p.manifest.ID, "error", err)
		}
	}
	o.plugins.Store(&all)
	return nil
}

// pluginsKept is the store's word that the home has a record of plugins: taking
// all of it away is found, too.
const pluginsKept = "plugins are recorded"

// openFolder reads what is installed, under a key that only an open node has.
func (n *Node) openFolder(ctx context.Context, o *session) (err error) {
	if o.folder, err = installed.Open(n.cfg.Plugins.Dir, o.ring.StoreKey().Derive(installed.Label)); err != nil {
		return err
	}
	var kept bool
	err = o.store.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(pluginsKept, &kept)
		return err
	})
	if err == nil && kept && !o.folder.Known() {
		err = fmt.Errorf("the record of plugins in %s %w", n.cfg.Plugins.Dir, installed.ErrGone)
	}
	return err
}

// start compiles the plugin and makes it ready: a built-in one in this process,
// a stranger's in a worker.
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

// findPlugins lists what there is, in the order in which it is called.
func (n *Node) findPlugins(f *installed.Folder) ([]*plugin, error) {
	bundles, err := plugins.All()
	if err != nil {
		return nil, fmt.Errorf("built-in plugins: %w", err)
	}
	var all []*plugin
	for _, b := range bundles {
		p := &plugin{manifest: b.Manifest, source: serve.PluginBuiltIn, open: b.Open, state: serve.PluginRuns}
		if f.IsOff(b.Manifest.ID) {
			p.state = serve.PluginOff
		}
		all = append(all, p)
	}
	files, err := f.Loose()
	if err != nil {
		return nil, fmt.Errorf("plugins: %w", err)
	}
	for _, file := range files {
		m, err := readManifest(file)
		if err != nil {
			return nil, err
		}
		all = append(all, &plugin{manifest: m, source: serve.PluginFolder, open: func() ([]byte, error) { return os.ReadFile(file) }, state: serve.PluginRuns})
	}
	for _, e := range f.List() {
		all = append(all, n.fromFolder(f, e))
	}
	for _, p := range all {
		if n.configOff(p.manifest.ID) {
			p.state = serve.PluginOff
		}
	}
	order(all)
	return all, nil
}

// fromFolder makes a plugin of an entry; one whose files are damaged is broken.
func (n *Node) fromFolder(f *installed.Folder, e installed.Entry) *plugin {
	p := &plugin{source: serve.PluginInstalled, entry: &e, state: serve.PluginRuns, open: func() ([]byte, error) { return f.Module(e) }}
	switch {
	case e.Off:
		p.state = serve.PluginOff
	case e.Faulted:
		p.state = serve.PluginFaulted
	}
	if p.manifest, _, p.err = f.ManifestOf(e); p.err != nil {
		p.manifest, p.state = agreedTo(&e), serve.PluginBroken
		n.log.Error("plugin not loaded", "plugin", e.ID, "error", p.err)
	}
	return p
}

// agreedTo is what is known of a plugin whose manifest can't be read: what the
// wearer agreed to, which the record has.
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

// blocks says whether the plugin takes words away and does not run, though the
// wearer has not turned it off: what it did not see, nobody sees.
func (p *plugin) blocks(state string) bool {
	return (state == serve.PluginFaulted || state == serve.PluginBroken) && p.manifest.Has(wasm.CapRedact)
}

func (n *Node) configOff(id string) bool { return slices.Contains(n.cfg.Plugins.Disabled, id) }

func order(all []*plugin) {
	slices.SortStableFunc(all, func(a, b *plugin) int {
		if a.manifest.Stage != b.manifest.Stage {
			return a.manifest.Stage - b.manifest.Stage
		}
		return strings.Compare(a.manifest.ID, b.manifest.ID)
	})
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

// chain is what package extract calls: those that run, those that would if
// faults had not disabled them, and of those that are broken what is not to be
// passed by.
func chain(all []*plugin) []extract.Plugin {
	var out []extract.Plugin
	for _, p := range all {
		if p.run != nil || p.state == serve.PluginFaulted || p.blocks(p.state) || p.state == serve.PluginBroken && p.manifest.Waits() {
			out = append(out, runner{p})
		}
	}
	return out
}

// scanners names the plugins that look for credentials, with their versions.
func (o *session) scanners() (s string) {
	for _, p := range chain(*o.plugins.Load()) {
		if p.First() {
			s += p.ID() + " " + p.Version() + ";"
		}
	}
	return s
}

// swap puts another plugin in the place of the one with its id, or adds it;
// nil takes that away. Events go to what is in the list when they begin: one
// that is being worked on is committed before. It gives what was replaced.
func (o *session) swap(id string, next *plugin) (was *plugin) {
	lock := o.engine.Hold()
	defer lock.Release()
	var all []*plugin
	for _, p := range *o.plugins.Load() {
		if p.manifest.ID == id {
			was = p
		} else {
			all = append(all, p)
		}
	}
	if next != nil {
		all = append(all, next)
	}
	order(all)
	o.plugins.Store(&all)
	o.extract.SetPlugins(chain(all))
	return was
}

func (o *session) plugin(id string) (*plugin, error) {
	for _, p := range *o.plugins.Load() {
		if p.manifest.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("plugin %s: %w", id, memory.ErrNotFound)
}
