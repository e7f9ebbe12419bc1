package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// Plugin is one module under one manifest. It is safe for concurrent use.
type Plugin struct {
	host     *Host
	manifest Manifest
	limits   Limits
	grants   map[Capability]bool
	settings map[string]string
	open     func() ([]byte, error)
	sum      [sha256.Size]byte

	domain *domain // it runs in the worker of its publisher; nil: in this process

	slots   chan struct{} // holds one element for each instance that may be in use
	buffers sync.Pool     // *buffer

	mu     sync.Mutex // guards the fields below
	code   *code      // nil while it is released
	idle   []*instance
	busy   int
	timer  *time.Timer
	closed bool

	tally tally
	logs  logRing
}

// Load checks, rewrites and compiles a module, and starts one instance to check that it fulfils the
// contract. The module is kept in memory, so that it can be compiled again after its release; see
// LoadFrom.
func (h *Host) Load(ctx context.Context, module []byte, m Manifest) (*Plugin, error) {
	return h.LoadFrom(ctx, func() ([]byte, error) { return module, nil }, m, nil)
}

// LoadFrom is Load for a module that open fetches again whenever the plugin returns from being
// idle; it must always be the same. settings are the wearer's settings for the plugin, which it
// reads through the capability "config". If the manifest names the module's hash and the cache has
// its machine code, the plugin starts idle, because it was tested when that was made.
func (h *Host) LoadFrom(ctx context.Context, open func() ([]byte, error), m Manifest, settings map[string]string) (_ *Plugin, err error) {
	if p, err := h.loadIdle(open, m, settings); p != nil || err != nil {
		return p, err
	}
	p, module, err := h.newPlugin(open, m, settings)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			h.dropFile(p.sum)
		}
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.compile(ctx, module); err != nil {
		return nil, fmt.Errorf("load plugin %s: %w", m.ID, err)
	}
	first, err := p.start(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load plugin %s: %w", m.ID, err), p.release(ctx))
	}
	p.idle = append(p.idle, first)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.Join(ErrClosed, p.release(ctx))
	}
	h.plugins[p] = struct{}{}
	p.armIdle()
	return p, nil
}

// loadIdle is LoadFrom for a module that was compiled before. It returns nil if it was not.
func (h *Host) loadIdle(open func() ([]byte, error), m Manifest, settings map[string]string) (*Plugin, error) {
	if !h.IsCompiled(m) {
		return nil, nil
	}
	sum, err := hex.DecodeString(m.SHA256)
	if err != nil {
		return nil, err
	}
	if err := checkManifest(m); err != nil {
		return nil, err
	}
	p := h.shell(m, settings)
	p.open, p.sum = open, [sha256.Size]byte(sum)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	h.plugins[p] = struct{}{}
	return p, nil
}

// IsCompiled reports whether a manifest names its module's hash, and the cache has the module's
// machine code.
func (h *Host) IsCompiled(m Manifest) bool {
	sum, err := hex.DecodeString(m.SHA256)
	return err == nil && len(sum) == sha256.Size && h.compiledBefore([sha256.Size]byte(sum), m.Limits.OrDefault())
}

func checkManifest(m Manifest) error {
	if err := m.Check(); err != nil {
		return err
	}
	if m.Publisher != "" && !m.verified {
		return fmt.Errorf("%w: %s: the signature was not checked", ErrSignature, m.ID)
	}
	return nil
}

// newPlugin checks what can be checked without reading the module.
func (h *Host) newPlugin(open func() ([]byte, error), m Manifest, settings map[string]string) (*Plugin, []byte, error) {
	if err := checkManifest(m); err != nil {
		return nil, nil, err
	}
	module, err := open()
	if err != nil {
		return nil, nil, fmt.Errorf("read the module of plugin %s: %w", m.ID, err)
	}
	p := h.shell(m, settings)
	p.open, p.sum = open, sha256.Sum256(module)
	if m.SHA256 != "" && m.SHA256 != hex.EncodeToString(p.sum[:]) {
		return nil, nil, fmt.Errorf("%w: plugin %s: module has sha256 %x", ErrHash, m.ID, p.sum)
	}
	return p, module, nil
}

// module fetches the module again.
func (p *Plugin) module() ([]byte, error) {
	module, err := p.open()
	if err != nil {
		return nil, fmt.Errorf("read the module of plugin %s: %w", p.manifest.ID, err)
	}
	if sha256.Sum256(module) != p.sum {
		return nil, fmt.Errorf("%w: plugin %s: the module has changed since it was loaded", ErrHash, p.manifest.ID)
	}
	return module, nil
}

// shell makes a plugin without a module.
func (h *Host) shell(m Manifest, settings map[string]string) *Plugin {
	p := &Plugin{host: h, manifest: m, limits: m.Limits.OrDefault(), grants: map[Capability]bool{},
		settings: maps.Clone(settings), slots: make(chan struct{}, h.opt.Instances)}
	for _, c := range m.Capabilities {
		p.grants[c] = true
	}
	return p
}

// Manifest returns the manifest under which the plugin was loaded.
func (p *Plugin) Manifest() Manifest { return p.manifest }

// compile gets the module's machine code. The module is opened unless it is given or another plugin
// holds its code. The caller holds p.mu.
func (p *Plugin) compile(ctx context.Context, module []byte) error {
	return p.codeFrom(ctx, func(c *code) (err error) {
		if module == nil {
			if module, err = p.module(); err != nil {
				return err
			}
		}
		if len(module) > abi.MaxModule {
			return fmt.Errorf("%w: %d bytes, at most %d", ErrModule, len(module), abi.MaxModule)
		}
		e, err := p.host.cacheEntry(module, p.limits)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.close()) }()
		if p.host.opt.NoSpare && e != nil && e.sealed {
			module, e.module = nil, nil
			debug.FreeOSMemory() // frees what unpacking took
		}
		if p.host.opt.NoSpare && (e == nil || !e.sealed) {
			p.host.opt.Logger.Info("machine code is made of a plugin, once; this takes up to 140 MB while it lasts", "plugin", p.manifest.ID)
		}
		if err := p.makeCode(ctx, c, module, e.path()); err != nil {
			return err
		}
		if err := errors.Join(e.seal(), e.close()); err != nil { // before the code is in memory and in two files
			return err
		}
		if err := p.fileCode(ctx, c); err != nil {
			return err
		}
		if p.host.opt.NoSpare {
			module = nil
			debug.FreeOSMemory() // frees what compiling took, before an instance starts
		}
		return nil
	})
}

// compileIn is compile in a worker, whose host manages the cache.
func (p *Plugin) compileIn(ctx context.Context, module []byte, cacheDir string) error {
	p.sum = sha256.Sum256(module)
	return p.codeFrom(ctx, func(c *code) error { return p.makeCode(ctx, c, module, cacheDir) })
}

// codeFrom takes existing code, or has it made.
func (p *Plugin) codeFrom(ctx context.Context, make func(*code) error) error {
	c, err := p.host.codes.of(codeKey{p.sum, p.limits.MemoryMiB << 20 / abi.PageSize}, make)
	if err != nil {
		return err
	}
	if err := p.checkImports(c.info.Imports); err != nil { // the plugin for which it was made may have had more grants
		return errors.Join(err, p.host.codes.drop(ctx, c))
	}
	p.code = c
	return nil
}

// makeCode rewrites and compiles a module, with a cache of one entry, or without. The module is
// opened if it is needed and not given.
func (p *Plugin) makeCode(ctx context.Context, c *code, module []byte, cacheDir string) error {
	rewritten, info, kept := readFuelled(cacheDir)
	if !kept {
		var err error
		if module == nil {
			if module, err = p.module(); err != nil {
				return err
			}
		}
		rewritten, info, err = fuel.Rewrite(module, fuel.Config{Pages: c.key.pages})
		if errors.Is(err, fuel.ErrMemory) {
			return fmt.Errorf("%w: %w: %v", ErrModule, ErrMemory, err)
		}
		if err != nil {
			return fmt.Errorf("%w: %v", ErrModule, err)
		}
	}
	if err := p.checkImports(info.Imports); err != nil { // before it takes any time
		return err
	}
	if err := checkExports(info.Exports); err != nil {
		return err
	}
	c.info = *info
	var err error
	if c.engine, c.cache, err = p.host.newRuntime(ctx, cacheDir); err != nil {
		return err
	}
	if c.compiled, err = c.compile(ctx, rewritten); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrModule, err), c.close(ctx))
	}
	if !kept {
		if err := writeFuelled(cacheDir, rewritten, info); err != nil {
			return errors.Join(err, c.close(ctx))
		}
	}
	return nil
}

// checkExports looks for the functions and the memory of the contract.
func checkExports(exports map[string]fuel.Export) error {
	const i32, i64 = "\x7f", "\x7e"
	for _, want := range []struct {
		name            string
		kind            byte
		params, results string
		optional        bool
	}{
		{"memory", fuel.KindMemory, "", "", false},
		{"locket_abi", fuel.KindFunction, "", i32, false},
		{"locket_alloc", fuel.KindFunction, i32, i32, false},
		{"locket_extract", fuel.KindFunction, i32 + i32, i64, false},
		{"_initialize", fuel.KindFunction, "", "", true},
	} {
		e, ok := exports[want.name]
		switch {
		case !ok && want.optional:
		case !ok:
			return fmt.Errorf("%w: it does not export %s", ErrModule, want.name)
		case e.Kind != want.kind || e.Params != want.params || e.Results != want.results:
			return fmt.Errorf("%w: its export %s is of another type than the contract's", ErrModule, want.name)
		}
	}
	return nil
}

// fault counts f, and disables the plugin after too many faults in a row.
func (p *Plugin) fault(f *Fault, u Usage) {
	f.Plugin = p.manifest.ID
	f.Disabled = p.tally.fault(f.Kind, u, p.host.opt.MaxFaults)
	p.host.opt.Logger.Warn("plugin fault", "plugin", p.manifest.ID, "kind", string(f.Kind), "disabled", f.Disabled)
	if p.host.opt.OnFault != nil {
		p.host.opt.OnFault(*f)
	}
}

// Disabled reports whether faults have disabled the plugin.
func (p *Plugin) Disabled() bool { return p.tally.disabled.Load() }

// DisabledSince returns when faults disabled the plugin; it is zero if they have not.
func (p *Plugin) DisabledSince() time.Time {
	p.tally.mu.Lock()
	defer p.tally.mu.Unlock()
	return p.tally.since
}

// Enable lets a plugin that was disabled try again.
func (p *Plugin) Enable() { p.tally.enable() }

// Logs returns the lines that the plugin logged last, oldest first. They may quote its input: they
// are for the wearer, not for a log file.
func (p *Plugin) Logs() []string { return p.logs.lines() }
