package wasm

import (
	"context"
	"os"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// TestMain is also the worker process: the hosts of these tests start this
// program again.
func TestMain(m *testing.M) {
	if IsWorker(os.Args) {
		os.Exit(ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func newHost(t *testing.T, opt Options) *Host {
	t.Helper()
	ctx := context.Background()
	if opt.Worker == nil {
		var err error
		if opt.Worker, err = SelfWorker(); err != nil {
			t.Fatal(err)
		}
	}
	h, err := NewHost(ctx, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return h
}

// testManifest has no practical time limit: only tests of the time limit depend on the machine's
// speed.
func testManifest(caps ...Capability) Manifest {
	m := Manifest{ID: "test/plugin", Version: "1.0.0", ABI: 1, Kinds: []string{"text"}, Types: []string{"semantic"}, Capabilities: caps,
		Limits: Limits{TimeMS: abi.MostTime}}
	if m.Has(CapVault) {
		m.Types = append(m.Types, "vault")
	}
	return m
}

// unhurried gives a plugin a time limit beyond the contract's longest: if a race detector and other
// tests slow the worker down, two seconds are not enough for 2 million units of fuel.
func unhurried(p *Plugin, err error) (*Plugin, error) {
	if err == nil && p.limits.TimeMS == abi.MostTime {
		p.limits.TimeMS = 100 * abi.MostTime
	}
	return p, err
}

func mustLoad(t *testing.T, h *Host, a *asm, m Manifest) *Plugin {
	t.Helper()
	p, err := unhurried(h.Load(context.Background(), a.bytes(), m))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func someText() *abi.Event {
	return &abi.Event{ID: "e1", Kind: "text", At: 1758706200123, Text: "hello there"}
}

// ask calls the plugin once.
func ask(t *testing.T, h *Host, a *asm, m Manifest) (abi.Output, Usage, error) {
	t.Helper()
	return mustLoad(t, h, a, m).Extract(context.Background(), someText())
}

// loader loads a module in one of the places where a plugin may run.
type loader func(t *testing.T, h *Host, module []byte, m Manifest) (*Plugin, error)

// everywhere runs a test for plugins in this process and in a worker.
func everywhere(t *testing.T, test func(t *testing.T, load loader)) {
	t.Run("in the daemon", func(t *testing.T) {
		test(t, func(_ *testing.T, h *Host, module []byte, m Manifest) (*Plugin, error) {
			return unhurried(h.Load(context.Background(), module, m))
		})
	})
	t.Run("in the worker", func(t *testing.T) {
		test(t, func(_ *testing.T, h *Host, module []byte, m Manifest) (*Plugin, error) {
			return unhurried(h.LoadApart(context.Background(), func() ([]byte, error) { return module, nil }, m, nil))
		})
	})
}

// ask loads and calls a plugin once.
func (load loader) ask(t *testing.T, h *Host, a *asm, m Manifest) (abi.Output, Usage, error) {
	t.Helper()
	return load.must(t, h, a, m).Extract(context.Background(), someText())
}

func (load loader) must(t *testing.T, h *Host, a *asm, m Manifest) *Plugin {
	t.Helper()
	p, err := load(t, h, a.bytes(), m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
