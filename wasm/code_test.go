package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Plugins of one module share its machine code as long as any of them holds it, and each is told
// its own id.
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
	if len(h.codes.held) != 1 || a.code != b.code || a.code.refs != 2 {
		t.Fatalf("%d codes, held %d times", len(h.codes.held), a.code.refs)
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
		if want := []int{2, 1, 0}[i]; len(h.codes.held) != want {
			t.Errorf("after %d were closed, %d codes are kept", i+1, len(h.codes.held))
		}
	}
}

// A grant to one plugin does not extend to another of the same module.
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

// Hosts of one process that share a cache share the code, which stays after they are closed.
func TestSharedAmongHosts(t *testing.T) {
	ctx := context.Background()
	dir, key := t.TempDir(), make([]byte, 32)
	opt := Options{CacheDir: dir, CacheKey: key, Share: true, Idle: -1}
	load := func(opt Options) *code {
		t.Helper()
		h, err := NewHost(ctx, opt)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Load(ctx, echo(t), testManifest())
		if err != nil {
			t.Fatal(err)
		}
		c := p.code
		if out, _, err := p.Extract(ctx, someText()); err != nil {
			t.Errorf("%+v, %v", out, err)
		}
		if err := h.Close(ctx); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := load(opt)
	if again := load(opt); again != first || first.compiled == nil {
		t.Error("the code was made again")
	}
	alone, small, other := opt, opt, opt
	alone.Share, small.NoSpare, other.CacheDir = false, true, t.TempDir()
	for name, o := range map[string]Options{"of its own": alone, "small": small, "another cache": other} {
		if load(o) == first {
			t.Errorf("%s: a host has the code of others", name)
		}
	}
}
