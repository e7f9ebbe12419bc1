package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Plugins of one module share its machine code for as long as any of them
// holds it, and each is told its own id.
func TestSharedCode(t *testing.T) {
	ctx := context.Background()
	h := newHost(t, Options{Idle: -1})
	load := func(id string) *Plugin {
		t.Helper()
		m := testManifest()
		m.ID = id
		p, err := h.Load(ctx, echo(t), m)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := load("test/one"), load("test/two")
	if len(h.codes) != 1 || a.code != b.code || a.code.refs != 2 {
		t.Fatalf("%d codes, held %d times", len(h.codes), a.code.refs)
	}
	e := someText()
	e.Text = "what is your name"
	for _, p := range []*Plugin{a, b, a} {
		if out, _, err := p.Extract(ctx, e); err != nil || len(out.Candidates) != 1 || !strings.EqualFold(out.Candidates[0].Text, p.Manifest().ID) {
			t.Errorf("%s: %+v, %v", p.Manifest().ID, out.Candidates, err)
		}
	}
	other := testManifest()
	other.Limits.MemoryMiB = 8
	c, err := h.Load(ctx, echo(t), other)
	if err != nil || c.code == a.code {
		t.Fatalf("a plugin of less memory has the code of one of more: %v", err)
	}
	for i, p := range []*Plugin{a, c, b} {
		if err := p.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if want := []int{2, 1, 0}[i]; len(h.codes) != want {
			t.Errorf("after %d were closed, %d codes are kept", i+1, len(h.codes))
		}
	}
}

// What one plugin was granted, another of the same module was not.
func TestSharedCodeGrants(t *testing.T) {
	ctx := context.Background()
	h := newHost(t, Options{Idle: -1})
	m := new(asm)
	m.importFn("locket", "log", "\x7f\x7f", "")
	module := m.plugin(i64c(0)).bytes()
	granted, err := h.Load(ctx, module, testManifest(CapLog))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Load(ctx, module, testManifest()); !errors.Is(err, ErrImport) {
		t.Errorf("without the capability: %v", err)
	}
	if granted.code.refs != 1 {
		t.Errorf("after a refused load the code is held %d times", granted.code.refs)
	}
}
