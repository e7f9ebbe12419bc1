// Package plugins manages the extractors of a home: which there are, whether they run,
// what they are given, and how the wearer installs, changes and removes them. It also
// reports which of their proposals were refused.
package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	builtin "github.com/locket-dev/locket/wasm/plugins"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	AcquireWriter() *engine.Writer
}

// Config is what the plugins of an open node need.
type Config struct {
	Dir           string    // folder of plugins that the wearer installed, or copied there
	Disabled      []string  // ids that the configuration turns off
	Cache         string    // folder of compiled plugins
	SharedCache   bool      // other homes use the cache, too
	Ready         string    // folder of plugins that are compiled for all homes of the machine; see wasm.Options
	NoSpare       bool      // see wasm.Options
	Worker        []string  // command of the process for third-party plugins; nil: they are not run
	Key           *seal.Key // of the node's store
	Engine        Engine
	Devices       func() ([]string, error)                         // returns the devices from which events may come
	OnTranscribed func(ctx context.Context, ids []memory.ID) error // is called with recordings in which words were heard
	Log           *slog.Logger
}

// Plugins are the plugins of an open node. Its methods are safe for concurrent use.
type Plugins struct {
	c       Config
	host    *wasm.Host
	folder  *installed.Folder
	extract *extract.Extractor
	list    atomic.Pointer[[]*plugin] // in the order in which they are called; see swap
	turn    chan struct{}             // holds a token while a caller has the turn
}

// Open finds and starts the plugins. They are not called before Serve.
func Open(ctx context.Context, c Config) (_ *Plugins, err error) {
	ps := &Plugins{c: c, turn: make(chan struct{}, 1)}
	if err = ps.openHost(ctx); err != nil {
		return nil, err
	}
	if err = ps.load(ctx); err == nil {
		err = ps.host.Rest(ctx) // until an event comes
	}
	if err != nil {
		return nil, errors.Join(err, ps.host.Close(ctx))
	}
	return ps, nil
}

// Serve sets the extractor that calls the plugins, which was made with Chain.
func (ps *Plugins) Serve(x *extract.Extractor) { ps.extract = x }

// Chain returns the plugins in the form that package extract calls.
func (ps *Plugins) Chain() []extract.Plugin { return chain(*ps.list.Load()) }

// Turn waits for the caller's turn. Until end is called, nobody else adds, changes or
// removes plugins or gives them past events.
func (ps *Plugins) Turn(ctx context.Context) (end func(), err error) {
	select {
	case ps.turn <- struct{}{}:
		return func() { <-ps.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Instances returns how many instances of plugins hold memory.
func (ps *Plugins) Instances() (n int) {
	for _, p := range *ps.list.Load() {
		if p.run != nil {
			n += int(p.run.Stats().Instances)
		}
	}
	return n
}

// Forget makes every plugin drop what it has in memory.
func (ps *Plugins) Forget() error { return ps.host.Forget() }

// Shrink frees the memory of plugins that are not in use. Their next call allocates it
// again.
func (ps *Plugins) Shrink(ctx context.Context) error { return ps.host.Shrink(ctx) }

// Close ends the plugins.
func (ps *Plugins) Close(ctx context.Context) error { return ps.host.Close(ctx) }

// View implements opened.Viewer.
func (ps *Plugins) View(ctx context.Context, fn func(*store.Tx) error) error {
	return ps.c.Engine.View(ctx, fn)
}

// pluginsIdle is how long the plugins are kept ready after an event: they take
// 80 MB, and some 0.2 s to come back from the cache.
const pluginsIdle = time.Minute

// openHost makes the plugins' host. Machine code is sealed with a key that only an open
// node has. If homes share the cache, the cache has its own key.
func (ps *Plugins) openHost(ctx context.Context) (err error) {
	opt := wasm.Options{CacheDir: ps.c.Cache, Ready: ps.c.Ready, Logger: ps.c.Log, Worker: ps.c.Worker, OnFault: ps.onFault, Idle: pluginsIdle, NoSpare: ps.c.NoSpare}
	if !ps.c.SharedCache {
		k := ps.c.Key.Derive("plugin cache")
		defer k.Zero()
		opt.CacheKey = k.Bytes()
	} else if opt.CacheKey, err = wasm.CacheKey(ps.c.Cache + ".key"); err != nil {
		return err
	} else {
		opt.Share = true
	}
	ps.host, err = wasm.NewHost(ctx, opt)
	return err
}

// onFault records that faults have disabled an installed plugin. It stays disabled
// until the wearer enables it. A built-in plugin is tried again after a pause.
func (ps *Plugins) onFault(f wasm.Fault) {
	if !f.Disabled {
		return
	}
	if p, err := ps.get(f.Plugin); err == nil && p.manifest.Has(wasm.CapRedact) {
		ps.c.Log.Error("a plugin that takes words away is disabled after faults: everything that is said is set aside until it is enabled, turned off or removed", "plugin", f.Plugin)
	}
	if _, err := ps.folder.Get(f.Plugin); err != nil {
		return
	}
	if err := ps.folder.Set(f.Plugin, false, true); err != nil {
		ps.c.Log.Error("a plugin is disabled, but that could not be saved", "plugin", f.Plugin, "error", err)
	}
}

// load finds and starts the built-in extractors, the installed ones, and those in the
// plugins folder. If a built-in one, or one from the folder, can't be loaded, that is
// an error. An installed one is then marked as broken.
func (ps *Plugins) load(ctx context.Context) error {
	if err := ps.openFolder(ctx); err != nil {
		return err
	}
	all, err := ps.find()
	if err != nil {
		return err
	}
	compiles := ps.compiles(all)
	gauge := progress.Of(ctx)
	gauge.Total.Store(int64(len(compiles)))
	for i, p := range all {
		if p.state != serve.PluginRuns {
			continue
		}
		if err := p.start(ctx, ps.host); err != nil && p.entry == nil {
			return fmt.Errorf("plugin %s: %w", p.manifest.ID, err)
		} else if err != nil {
			p.state, p.err = serve.PluginBroken, err
			ps.c.Log.Error("a plugin could not be loaded", "plugin", p.manifest.ID, "error", err)
			continue
		}
		if compiles[p.manifest.SHA256] {
			delete(compiles, p.manifest.SHA256) // others share it
			gauge.Done.Add(1)
		}
		// Together they would take 135 MB at once. The first one keeps the module that
		// most of them share, until the last one is loaded.
		if i > 0 {
			if err := p.run.Rest(ctx); err != nil {
				return err
			}
		}
	}
	ps.list.Store(&all)
	return nil
}

// compiles returns the modules of built-in plugins, by their hashes, that take long to start because
// they are compiled first.
func (ps *Plugins) compiles(all []*plugin) map[string]bool {
	list := map[string]bool{}
	for _, p := range all {
		if p.state == serve.PluginRuns && p.source == serve.PluginBuiltIn && !ps.host.IsCompiled(p.manifest) {
			list[p.manifest.SHA256] = true
		}
	}
	return list
}

// pluginsKept marks in the store that the home has a record of plugins, so that it is
// noticed if the whole record is removed.
const pluginsKept = "plugins are recorded"

// openFolder reads the installed plugins, with a key that only an open node has.
func (ps *Plugins) openFolder(ctx context.Context) (err error) {
	if ps.folder, err = installed.Open(ps.c.Dir, ps.c.Key.Derive(installed.Label)); err != nil {
		return err
	}
	var kept bool
	err = ps.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(pluginsKept, &kept)
		return err
	})
	if err == nil && kept && !ps.folder.Known() {
		err = fmt.Errorf("the record of plugins in %s %w", ps.c.Dir, installed.ErrGone)
	}
	return err
}

// find lists the plugins, in the order in which they are called.
func (ps *Plugins) find() ([]*plugin, error) {
	f := ps.folder
	bundles, err := builtin.All()
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
	files, err := f.LooseModules()
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
		all = append(all, ps.fromFolder(e))
	}
	for _, p := range all {
		if ps.configOff(p.manifest.ID) {
			p.state = serve.PluginOff
		}
	}
	order(all)
	return all, nil
}

// fromFolder makes a plugin of an entry; if its files are damaged, the plugin is
// broken.
func (ps *Plugins) fromFolder(e installed.Entry) *plugin {
	f := ps.folder
	p := &plugin{source: serve.PluginInstalled, entry: &e, state: serve.PluginRuns, open: func() ([]byte, error) { return f.Module(e) }}
	switch {
	case e.Off:
		p.state = serve.PluginOff
	case e.Faulted:
		p.state = serve.PluginFaulted
	}
	if p.manifest, _, p.err = f.ManifestOf(e); p.err != nil {
		p.manifest, p.state = agreedTo(&e), serve.PluginBroken
		ps.c.Log.Error("a plugin could not be loaded", "plugin", e.ID, "error", p.err)
	}
	return p
}

func (ps *Plugins) configOff(id string) bool { return slices.Contains(ps.c.Disabled, id) }

func order(all []*plugin) {
	sorting.Stable(all, func(a, b *plugin) int {
		if a.manifest.Stage != b.manifest.Stage {
			return a.manifest.Stage - b.manifest.Stage
		}
		return strings.Compare(a.manifest.ID, b.manifest.ID)
	})
}

// chain returns what package extract calls: plugins that run, plugins that faults have
// disabled, and broken ones that texts must not get past.
func chain(all []*plugin) []extract.Plugin {
	var out []extract.Plugin
	for _, p := range all {
		if p.run != nil || p.state == serve.PluginFaulted || p.blocks(p.state) || p.state == serve.PluginBroken && p.manifest.Waits() {
			out = append(out, runner{p})
		}
	}
	return out
}

// Scanners names the plugins that look for credentials, with their versions.
func (ps *Plugins) Scanners() (s string) {
	for _, p := range ps.Chain() {
		if p.(runner).RunsFirst() {
			s += p.ID() + " " + p.Version() + ";"
		}
	}
	return s
}

// swap replaces the plugin with this id, or adds it; nil removes it. An event is given
// to the plugins that are in the list when it begins, and is committed before the swap.
// swap returns the replaced plugin.
func (ps *Plugins) swap(id string, next *plugin) (was *plugin) {
	lock := ps.c.Engine.AcquireWriter()
	defer lock.Release()
	var all []*plugin
	for _, p := range *ps.list.Load() {
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
	ps.list.Store(&all)
	ps.extract.SetPlugins(chain(all))
	return was
}

func (ps *Plugins) get(id string) (*plugin, error) {
	for _, p := range *ps.list.Load() {
		if p.manifest.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("plugin %s: %w", id, memory.ErrNotFound)
}
