package plugins

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/trust"
)

// Plugger implements serve.Plugger, serve.Tracer and serve.Refuser.
type Plugger struct{ of opened.Of[*Plugins] }

// NewPlugger makes a Plugger.
func NewPlugger(of opened.Of[*Plugins]) Plugger { return Plugger{of} }

// turn returns the plugins when it is the caller's turn to change them. Until done
// is called the node is not locked, and no other call changes them.
func (pl Plugger) turn(ctx context.Context) (ps *Plugins, done func(), err error) {
	ps, release, err := pl.of.Use()
	if err != nil {
		return nil, nil, err
	}
	end, err := ps.Turn(ctx)
	if err != nil {
		release()
		return nil, nil, err
	}
	return ps, func() { end(); release() }, nil
}

// Plugins implements serve.Plugger.
func (pl Plugger) Plugins(ctx context.Context) ([]serve.Plugin, error) {
	ps, release, err := pl.of.Use()
	if err != nil {
		return nil, err
	}
	defer release()
	list := []serve.Plugin{}
	for _, p := range *ps.list.Load() {
		s := p.toAPI()
		if p.manifest.Waits() {
			if s.Waiting, err = ps.extract.Deferred(ctx, s.ID); err != nil {
				return nil, err
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// Status returns the state of the plugins that are not turned off.
func (ps *Plugins) Status() []serve.PluginStatus {
	out := []serve.PluginStatus{}
	for _, p := range *ps.list.Load() {
		shown := p.toAPI()
		if shown.State == serve.PluginOff {
			continue
		}
		var faults uint64
		for _, n := range shown.Faults {
			faults += n
		}
		out = append(out, serve.PluginStatus{Name: shown.ID, Version: shown.Version, Enabled: shown.State == serve.PluginRuns, Calls: shown.Calls, Faults: faults,
			Blocks: p.blocks(shown.State)})
	}
	return out
}

// Has reports whether there is a plugin with this id.
func (ps *Plugins) Has(id string) bool {
	_, err := ps.get(id)
	return err == nil
}

// toAPI returns a plugin in the form of the API.
func (p *plugin) toAPI() serve.Plugin {
	m := &p.manifest
	s := serve.Plugin{ID: m.ID, Version: m.Version, Title: m.Title, Licence: m.Licence, Source: p.source, State: p.state, Publisher: m.Publisher,
		Stage: m.Stage, Kinds: serve.NonNil(m.Kinds), Types: serve.NonNil(m.Types), Capabilities: []string{}, OnFault: string(wasm.FaultSkip), Faults: map[string]uint64{}}
	for _, c := range m.Capabilities {
		s.Capabilities = append(s.Capabilities, string(c))
	}
	if m.Waits() {
		s.OnFault = string(wasm.FaultWait)
	}
	if p.err != nil {
		s.Error = p.err.Error()
	}
	if p.run == nil {
		return s
	}
	s.Worker = p.run.Confined()
	st := p.run.Stats()
	if st.Disabled {
		s.State = serve.PluginFaulted
	}
	for k, n := range st.Faults {
		s.Faults[string(k)] = n
	}
	s.Calls, s.Fuel, s.Seconds, s.PeakBytes, s.Late, s.Dropped = st.Calls, st.Fuel, st.Time.Seconds(), st.PeakMemory, st.Late, st.Candidates
	return s
}

// Plugin implements serve.Plugger.
func (pl Plugger) Plugin(_ context.Context, id string) (v serve.PluginView, err error) {
	ps, release, err := pl.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	p, err := ps.get(id)
	if err != nil {
		return v, err
	}
	l := p.manifest.Effective()
	v = serve.PluginView{Plugin: p.toAPI(), SHA256: p.manifest.SHA256, Asks: serve.NonNil(trust.Asks(&p.manifest)), Agreed: []string{},
		Limits: serve.PluginMax{MemoryMiB: l.MemoryMiB, Fuel: l.Fuel, TimeMS: l.TimeMS, OutputKiB: l.OutputKiB, Candidates: l.Candidates}}
	if e := p.entry; e != nil {
		v.SHA256, v.Agreed, v.Installed = e.Module, e.Agreed, e.Installed
		if raw, err := ps.folder.RawManifest(*e); err == nil {
			v.Manifest = string(raw)
		}
	}
	return v, nil
}

// InstallPlugin implements serve.Plugger. It compiles and starts the new version
// while the old one runs. Then it records the new version, and only then gives it
// events.
func (pl Plugger) InstallPlugin(ctx context.Context, r serve.InstallPluginRequest) (s serve.Plugin, err error) {
	ps, done, err := pl.turn(ctx)
	if err != nil {
		return s, err
	}
	defer done()
	pkg := installed.Package{Manifest: []byte(r.Manifest), Signature: r.Signature, Module: r.Module, Agreed: r.Agreed, Unsigned: r.Unsigned, Lookalike: r.Lookalike, Settings: r.Settings}
	p, err := ps.admit(&pkg)
	if err != nil {
		return s, err
	}
	if ps.configOff(p.manifest.ID) {
		p.state = serve.PluginOff
	}
	if err := p.start(ctx, ps.host); err != nil {
		return s, refusedPlugin(err)
	}
	e, was, err := ps.folder.Put(pkg, &p.manifest, time.Now())
	if err == nil {
		err = ps.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(pluginsKept, true) })
	}
	if err != nil {
		return s, errors.Join(err, p.run.Close(ctx))
	}
	p.entry, p.open = &e, func() ([]byte, error) { return ps.folder.Module(e) }
	if e.Off || p.state != serve.PluginRuns {
		err = p.run.Close(ctx)
		p.run, p.state = nil, serve.PluginOff
	}
	old := ps.swap(p.manifest.ID, p)
	if old != nil && old.run != nil {
		err = errors.Join(err, old.run.Close(ctx))
	}
	if was != nil {
		err = errors.Join(err, ps.folder.Drop(*was))
	}
	return p.toAPI(), err
}

// admit checks a package against the existing plugins.
func (ps *Plugins) admit(pkg *installed.Package) (*plugin, error) {
	m, _, err := installed.Admit(pkg, ps.home())
	if err != nil {
		return nil, refusedPlugin(err)
	}
	var was *installed.Entry
	if have, err := ps.get(m.ID); err == nil {
		if have.entry == nil {
			return nil, fmt.Errorf("%w: there is a plugin %s that was not installed: it is %s", serve.ErrConflict, m.ID, have.source)
		}
		was = have.entry
	}
	settings := pkg.Settings
	if settings == nil && was != nil {
		settings = was.Settings
	}
	module := pkg.Module
	return &plugin{manifest: m, source: serve.PluginInstalled, state: serve.PluginRuns, entry: &installed.Entry{ID: m.ID, Settings: settings},
		open: func() ([]byte, error) { return module, nil }}, nil
}

// refusedPlugin distinguishes errors that a person can override from those of an
// invalid package.
func refusedPlugin(err error) error {
	var fault *wasm.Fault
	switch {
	case errors.Is(err, installed.ErrNotAgreed), errors.Is(err, installed.ErrRefused):
		return fmt.Errorf("%w: %w", serve.ErrConflict, err)
	case errors.Is(err, wasm.ErrManifest), errors.Is(err, wasm.ErrModule), errors.Is(err, wasm.ErrImport), errors.Is(err, wasm.ErrHash),
		errors.Is(err, wasm.ErrSignature), errors.As(err, &fault):
		return fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	return err
}

// EnablePlugin implements serve.Plugger.
func (pl Plugger) EnablePlugin(ctx context.Context, id string, enabled bool) (s serve.Plugin, err error) {
	ps, done, err := pl.turn(ctx)
	if err != nil {
		return s, err
	}
	defer done()
	have, err := ps.get(id)
	switch {
	case err != nil:
		return s, err
	case enabled && ps.configOff(id):
		return s, fmt.Errorf("%w: the setting plugins.disabled names %s", serve.ErrConflict, id)
	case !enabled && have.state == serve.PluginOff:
		return have.toAPI(), nil
	}
	next := *have
	next.err = nil
	if !enabled {
		next.run, next.state = nil, serve.PluginOff
	} else {
		next.state = serve.PluginRuns
		if have.run == nil && have.entry != nil { // for a broken plugin, only the agreed capabilities are known
			if next.manifest, _, err = ps.folder.ManifestOf(*have.entry); err != nil {
				return s, refusedPlugin(err)
			}
		}
		if have.run != nil {
			have.run.Enable()
		} else if err := next.start(ctx, ps.host); err != nil {
			return s, refusedPlugin(err)
		}
	}
	if err := ps.folder.Set(id, !enabled, false); err != nil {
		if next.run != nil && next.run != have.run {
			err = errors.Join(err, next.run.Close(ctx))
		}
		return s, err
	}
	ps.swap(id, &next)
	if next.run == nil && have.run != nil {
		err = have.run.Close(ctx)
	}
	return next.toAPI(), err
}

// RemovePlugin implements serve.Plugger.
func (pl Plugger) RemovePlugin(ctx context.Context, id string) error {
	ps, done, err := pl.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	have, err := ps.get(id)
	switch {
	case err != nil:
		return err
	case have.entry == nil:
		return fmt.Errorf("%w: %s was not installed: it is %s; turn it off instead", serve.ErrConflict, id, have.source)
	}
	// The steps that can fail without effect come first. The plugin's states are
	// stored by device.
	devices, err := ps.c.Devices()
	if err != nil {
		return err
	}
	e, err := ps.folder.Remove(id)
	if err != nil {
		return err
	}
	ps.swap(id, nil)
	lock := ps.c.Engine.AcquireWriter()
	err = ps.extract.ForgetPlugin(ctx, lock, id, devices)
	lock.Release()
	if have.run != nil {
		err = errors.Join(err, have.run.Close(ctx))
	}
	return errors.Join(err, ps.folder.Drop(e))
}

// PluginLogs implements serve.Tracer.
func (pl Plugger) PluginLogs(_ context.Context, id string) ([]string, error) {
	ps, release, err := pl.of.Use()
	if err != nil {
		return nil, err
	}
	defer release()
	p, err := ps.get(id)
	if err != nil || p.run == nil {
		return []string{}, err
	}
	return serve.NonNil(p.run.Logs()), nil
}
