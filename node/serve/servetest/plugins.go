package servetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/trust"
)

var (
	_ serve.Plugger = (*Node)(nil)
	_ serve.Tracer  = (*Node)(nil)
)

// held is a plugin that was installed; this node runs none.
type held struct {
	Plugin   serve.Plugin
	Manifest string
	Agreed   []string
	Replayed int
}

// rules stands for this node's three sentences.
func rules() serve.Plugin {
	return serve.Plugin{ID: "rules", Version: "1.0.0", Source: serve.PluginBuiltIn, State: serve.PluginRuns, OnFault: "skip",
		Kinds: []string{"text"}, Types: []string{"semantic", "episodic", "vault"}, Capabilities: []string{}, Faults: map[string]uint64{}}
}

// Plugins implements serve.Plugger.
func (n *Node) Plugins(context.Context) ([]serve.Plugin, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.locked {
		return nil, memory.ErrLocked
	}
	list := []serve.Plugin{rules()}
	list[0].State = n.rulesState()
	for _, h := range n.s.Held {
		list = append(list, h.Plugin)
	}
	return list, nil
}

func (n *Node) rulesState() string {
	if n.s.RulesOff {
		return serve.PluginOff
	}
	return serve.PluginRuns
}

func (n *Node) heldPlugin(id string) int {
	return slices.IndexFunc(n.s.Held, func(h held) bool { return h.Plugin.ID == id })
}

func noPlugin(id string) error { return fmt.Errorf("plugin %s: %w", id, memory.ErrNotFound) }

// Plugin implements serve.Plugger.
func (n *Node) Plugin(_ context.Context, id string) (serve.PluginView, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id == "rules" {
		v := serve.PluginView{Plugin: rules(), Asks: []string{}, Agreed: []string{}}
		v.State = n.rulesState()
		return v, nil
	}
	i := n.heldPlugin(id)
	if i < 0 {
		return serve.PluginView{}, noPlugin(id)
	}
	h := n.s.Held[i]
	return serve.PluginView{Plugin: h.Plugin, Manifest: h.Manifest, Asks: h.Agreed, Agreed: h.Agreed}, nil
}

// InstallPlugin implements serve.Plugger.
func (n *Node) InstallPlugin(_ context.Context, r serve.InstallPluginRequest) (serve.Plugin, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	pkg := pack(r)
	m, _, err := installed.Admit(&pkg, n.pluginHome())
	if err != nil {
		return serve.Plugin{}, refusedPlugin(err)
	}
	i := n.heldPlugin(m.ID)
	if len(r.Module) < 8 || string(r.Module[:4]) != "\x00asm" {
		return serve.Plugin{}, fmt.Errorf("%w: module: it is none", memory.ErrInvalid)
	}
	p := serve.Plugin{ID: m.ID, Version: m.Version, Title: m.Title, Licence: m.Licence, Source: serve.PluginInstalled, State: serve.PluginRuns,
		Publisher: m.Publisher, Stage: m.Stage, Kinds: m.Kinds, Types: slices.Clone(m.Types), Capabilities: []string{}, OnFault: "skip", Faults: map[string]uint64{}}
	for _, c := range m.Capabilities {
		p.Capabilities = append(p.Capabilities, string(c))
	}
	if p.Types == nil {
		p.Types = []string{}
	}
	if m.Waits() {
		p.OnFault = "wait"
	}
	h := held{Plugin: p, Manifest: r.Manifest, Agreed: trust.Asks(&m)}
	if n.s.Pins == nil {
		n.s.Pins = map[string]trust.Pin{}
	}
	n.s.Pins[m.ID] = trust.Pin{Publisher: m.Publisher, Version: m.Version, SHA256: fmt.Sprintf("%x", sha256.Sum256(r.Module))}
	if i >= 0 {
		n.s.Held[i] = h
	} else {
		n.s.Held = append(n.s.Held, h)
	}
	return p, nil
}

func pack(r serve.InstallPluginRequest) installed.Package {
	return installed.Package{Manifest: []byte(r.Manifest), Signature: r.Signature, Module: r.Module, Agreed: r.Agreed, Unsigned: r.Unsigned, Lookalike: r.Lookalike}
}

func refusedPlugin(err error) error {
	switch {
	case errors.Is(err, memory.ErrInvalid):
		return err
	case errors.Is(err, wasm.ErrHash):
		return fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	return fmt.Errorf("%w: %w", serve.ErrConflict, err)
}

func (n *Node) pluginHome() trust.Home {
	h := trust.Home{Pins: n.s.Pins, Agreed: map[string][]string{}, Taken: []string{"rules"}}
	for _, p := range n.s.Held {
		h.Agreed[p.Plugin.ID] = p.Agreed
	}
	return h
}

// PlanPlugin implements serve.Plugger.
func (n *Node) PlanPlugin(_ context.Context, r serve.InstallPluginRequest) (serve.PluginPlan, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	pkg := pack(r)
	_, plan, err := installed.Plan(&pkg, n.pluginHome())
	if err != nil {
		return serve.PluginPlan{}, refusedPlugin(err)
	}
	return plan, nil
}

// UnpinPlugin implements serve.Plugger.
func (n *Node) UnpinPlugin(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.heldPlugin(id) >= 0 {
		return fmt.Errorf("%w: %s is installed", serve.ErrConflict, id)
	}
	if _, ok := n.s.Pins[id]; !ok {
		return noPlugin(id)
	}
	delete(n.s.Pins, id)
	return nil
}

// EnablePlugin implements serve.Plugger.
func (n *Node) EnablePlugin(_ context.Context, id string, enabled bool) (serve.Plugin, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id == "rules" {
		n.s.RulesOff = !enabled
		p := rules()
		p.State = n.rulesState()
		return p, nil
	}
	i := n.heldPlugin(id)
	if i < 0 {
		return serve.Plugin{}, noPlugin(id)
	}
	n.s.Held[i].Plugin.State = serve.PluginOff
	if enabled {
		n.s.Held[i].Plugin.State = serve.PluginRuns
	}
	return n.s.Held[i].Plugin, nil
}

// RemovePlugin implements serve.Plugger.
func (n *Node) RemovePlugin(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id == "rules" {
		return fmt.Errorf("%w: rules is built in", serve.ErrConflict)
	}
	i := n.heldPlugin(id)
	if i < 0 {
		return noPlugin(id)
	}
	n.s.Held = slices.Delete(n.s.Held, i, i+1)
	return nil
}

// PluginLogs implements serve.Tracer.
func (n *Node) PluginLogs(ctx context.Context, id string) ([]string, error) {
	if _, err := n.Plugin(ctx, id); err != nil {
		return nil, err
	}
	return []string{}, nil
}

// ReplayPlugin implements serve.Tracer: this node keeps what is said, and
// knows already what follows from it.
func (n *Node) ReplayPlugin(ctx context.Context, r serve.ReplayPluginRequest) (serve.PluginReplayed, error) {
	if _, err := n.Plugin(ctx, r.ID); err != nil {
		return serve.PluginReplayed{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	res := serve.PluginReplayed{Changes: []memory.Change{}}
	for _, u := range n.s.Utterances {
		if !u.At.Before(r.Since) && (r.Until.IsZero() || u.At.Before(r.Until)) {
			res.Events++
		}
	}
	return res, nil
}

// TraceEvent implements serve.Tracer: what is said goes through the rules.
func (n *Node) TraceEvent(_ context.Context, id memory.EventID) (serve.Trace, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, u := range n.s.Utterances {
		if u.Event != id {
			continue
		}
		step := serve.TraceStep{Plugin: "rules", Version: "1.0.0", Given: "text", InBytes: len(u.Text), Candidates: []serve.TraceCandidate{}}
		for _, m := range n.s.Memories {
			if len(m.Evidence) > 0 && m.Evidence[0].Event == id {
				step.Candidates = append(step.Candidates, serve.TraceCandidate{Type: string(m.Type), Memory: m.ID, Verdict: memory.Add})
			}
		}
		return serve.Trace{Event: id, Kind: "text", At: u.At, Steps: []serve.TraceStep{step}}, nil
	}
	return serve.Trace{}, fmt.Errorf("trace of event %s: %w", id, memory.ErrNotFound)
}

// silent is a module of the contract whose answer is always nothing.
var silent = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x10\x03\x60\x00\x01\x7f\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7e" + // () i32, (i32) i32, (i32 i32) i64
	"\x03\x04\x03\x00\x01\x02" +
	"\x05\x03\x01\x00\x02" + // two pages
	"\x07\x37\x04" +
	"\x06memory\x02\x00\x0alocket_abi\x00\x00\x0clocket_alloc\x00\x01\x0elocket_extract\x00\x02" +
	"\x0a\x11\x03\x04\x00\x41\x01\x0b\x05\x00\x41\x80\x20\x0b\x04\x00\x42\x00\x0b")

const silentManifest = "id = \"suite/silent\"\nversion = \"%s\"\nabi = 1\nkinds = [\"text\"]\ntypes = [\"semantic\"]\n%s"

// Silent is a package of a plugin that is given texts and answers nothing;
// more is lines of its manifest.
func Silent(version, more string) serve.InstallPluginRequest {
	return serve.InstallPluginRequest{Manifest: fmt.Sprintf(silentManifest, version, more), Module: silent,
		Agreed: []string{"proposes semantic", "sees text"}, Unsigned: true}
}

// plugins: installed, upgraded, turned off, taken away; and refused where the
// wearer was not asked.
func plugins(t *testing.T, c *serve.Client, _ Subject) {
	ctx := t.Context()
	before, err := c.Plugins(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := Silent
	refused := func(want error, change func(*serve.InstallPluginRequest)) {
		t.Helper()
		r := request("1.0.0", "")
		change(&r)
		if _, err := c.InstallPlugin(ctx, r); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	refused(serve.ErrConflict, func(r *serve.InstallPluginRequest) { r.Agreed = nil })
	refused(serve.ErrConflict, func(r *serve.InstallPluginRequest) { r.Agreed = []string{"sees text"} })
	refused(serve.ErrConflict, func(r *serve.InstallPluginRequest) { r.Unsigned = false })
	refused(memory.ErrInvalid, func(r *serve.InstallPluginRequest) { r.Module = []byte("#!/bin/sh") })
	refused(memory.ErrInvalid, func(r *serve.InstallPluginRequest) { r.Manifest = "id = 3" })
	p, err := c.InstallPlugin(ctx, request("1.0.0", ""))
	if err != nil || p.ID != "suite/silent" || p.State != serve.PluginRuns || p.Source != serve.PluginInstalled {
		t.Fatalf("install: %+v, %v", p, err)
	}
	refused(serve.ErrConflict, func(r *serve.InstallPluginRequest) { r.Manifest = fmt.Sprintf(silentManifest, "0.9.9", "") })
	refused(serve.ErrConflict, func(r *serve.InstallPluginRequest) {
		r.Manifest = fmt.Sprintf(silentManifest, "1.1.0", "capabilities = [\"context\"]\n")
	})
	up := request("1.1.0", "capabilities = [\"context\"]\n")
	up.Agreed = append(up.Agreed, "may context")
	if p, err = c.InstallPlugin(ctx, up); err != nil || p.Version != "1.1.0" {
		t.Fatalf("upgrade: %+v, %v", p, err)
	}
	more := request("1.2.0", "capabilities = [\"context\", \"now\"]\n")
	if plan, err := c.PlanPlugin(ctx, more); err != nil || plan.Step != trust.Upgrade || plan.From != "1.1.0" || len(plan.Added) != 1 || !slices.Contains(plan.Asks, "may now") {
		t.Errorf("plan: %+v, %v", plan, err)
	}
	large := more
	large.Module = append(slices.Clone(silent), make([]byte, 2<<20)...)
	if plan, err := c.PlanPlugin(ctx, large); err != nil || plan.Step != trust.Upgrade {
		t.Errorf("plan of a large module: %+v, %v", plan, err)
	}
	if _, err := c.UnpinPlugin(ctx, p.ID); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("unpinning what is installed: %v", err)
	}
	v, err := c.Plugin(ctx, p.ID)
	if err != nil || v.Manifest != up.Manifest || !slices.Equal(v.Agreed, []string{"may context", "proposes semantic", "sees text"}) {
		t.Errorf("view: %+v, %v", v, err)
	}
	if p, err = c.EnablePlugin(ctx, p.ID, false); err != nil || p.State != serve.PluginOff {
		t.Errorf("off: %+v, %v", p, err)
	}
	if p, err = c.EnablePlugin(ctx, p.ID, true); err != nil || p.State != serve.PluginRuns {
		t.Errorf("on: %+v, %v", p, err)
	}
	said, err := c.Add(ctx, serve.AddRequest{Text: "My dentist is Dr Novak."})
	if err != nil || len(said.Changes) == 0 {
		t.Fatalf("%+v, %v", said, err)
	}
	m, err := c.Get(ctx, said.Changes[0].Memory.String())
	if err != nil || len(m.Evidence) == 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	way, err := c.TraceEvent(ctx, m.Evidence[0].Event.String())
	found := false
	for _, s := range way.Steps {
		for _, c := range s.Candidates {
			found = found || c.Memory == m.ID && c.Verdict == memory.Add
		}
	}
	if err != nil || !found || way.Kind != "text" {
		t.Errorf("trace: %+v, %v", way, err)
	}
	if _, err := c.PluginLogs(ctx, p.ID); err != nil {
		t.Error(err)
	}
	if r, err := c.ReplayPlugin(ctx, serve.ReplayPluginRequest{ID: p.ID, Since: time.Now()}); err != nil || r.Candidates != 0 {
		t.Errorf("replay: %+v, %v", r, err)
	}
	if _, err := c.RemovePlugin(ctx, before[0].ID); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("removing a built-in one: %v", err)
	}
	if _, err := c.RemovePlugin(ctx, p.ID); err != nil {
		t.Error(err)
	}
	// What was here once stays known: an older one can't come back unseen.
	refused(serve.ErrConflict, func(*serve.InstallPluginRequest) {})
	if plan, err := c.PlanPlugin(ctx, more); err != nil || plan.Step != trust.New || len(plan.Added) != 4 {
		t.Errorf("plan after removal: %+v, %v", plan, err)
	}
	if _, err := c.UnpinPlugin(ctx, p.ID); err != nil {
		t.Error(err)
	}
	if plan, err := c.PlanPlugin(ctx, request("1.0.0", "")); err != nil || plan.Step != trust.New || plan.From != "" {
		t.Errorf("plan after unpinning: %+v, %v", plan, err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.UnpinPlugin(ctx, p.ID); return err },
		func() error { _, err := c.Plugin(ctx, p.ID); return err },
		func() error { _, err := c.EnablePlugin(ctx, p.ID, true); return err },
		func() error { _, err := c.RemovePlugin(ctx, p.ID); return err },
		func() error { _, err := c.PluginLogs(ctx, p.ID); return err },
		func() error { _, err := c.ReplayPlugin(ctx, serve.ReplayPluginRequest{ID: p.ID}); return err },
		func() error { _, err := c.TraceEvent(ctx, "nobody/1/1"); return err },
	} {
		if err := call(); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("of nothing: %v", err)
		}
	}
	if after, err := c.Plugins(ctx); err != nil || len(after) != len(before) {
		t.Errorf("%d plugins, %v; before %d", len(after), err, len(before))
	}
}
