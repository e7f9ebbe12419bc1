package serve_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/trust"
)

// plugins are installed, upgraded, disabled and removed; and refused where the
// wearer was not asked.
func plugins(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	before, err := c.Plugins(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := plugintest.Silent
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
	refused(serve.ErrConflict, func(r *serve.InstallPluginRequest) { r.Manifest = plugintest.Manifest("0.9.9", "") })
	refused(serve.ErrConflict, func(r *serve.InstallPluginRequest) {
		r.Manifest = plugintest.Manifest("1.1.0", "capabilities = [\"context\"]\n")
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
	large.Module = append(slices.Clone(plugintest.SilentModule), make([]byte, 2<<20)...)
	if plan, err := c.PlanPlugin(ctx, large); err != nil || plan.Step != trust.Upgrade {
		t.Errorf("plan of a large module: %+v, %v", plan, err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.UnpinPlugin(ctx, p.ID); return err },
		func() error { _, err := c.PluginPin(ctx, p.ID); return err },
	} {
		if err := call(); !errors.Is(err, serve.ErrConflict) {
			t.Errorf("unpinning what is installed: %v", err)
		}
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
	// What was here once stays known: an older version can't come back
	// unnoticed.
	refused(serve.ErrConflict, func(*serve.InstallPluginRequest) {})
	if plan, err := c.PlanPlugin(ctx, more); err != nil || plan.Step != trust.New || len(plan.Added) != 4 {
		t.Errorf("plan after removal: %+v, %v", plan, err)
	}
	if pin, err := c.PluginPin(ctx, p.ID); err != nil || pin != (serve.PluginPin{ID: p.ID, Publisher: p.Publisher, Version: "1.1.0"}) {
		t.Errorf("pin of %+v: %+v, %v", p, pin, err)
	}
	if _, err := c.UnpinPlugin(ctx, p.ID); err != nil {
		t.Error(err)
	}
	if plan, err := c.PlanPlugin(ctx, request("1.0.0", "")); err != nil || plan.Step != trust.New || plan.From != "" {
		t.Errorf("plan after unpinning: %+v, %v", plan, err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.UnpinPlugin(ctx, p.ID); return err },
		func() error { _, err := c.PluginPin(ctx, p.ID); return err },
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
