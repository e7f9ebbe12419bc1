package wasm

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/wasm/abi"
)

// moody is a plugin that answers 0, but traps on an event with State, whose map is longer.
func moody() *asm {
	return new(asm).plugin(
		[]byte{0x20, 1}, i32c(60), []byte{0x4a, 0x04, 0x40, 0x00, 0x0b}, // trap if the input is over 60 bytes
		i64c(0))
}

func long() *abi.Event {
	e := someText()
	e.Text = "a text that is long enough to put the plugin into a bad mood, which ends in a trap"
	return e
}

func TestThreeFaultsDisable(t *testing.T) {
	ctx := context.Background()
	var faults []Fault
	h := newHost(t, Options{OnFault: func(f Fault) { faults = append(faults, f) }})
	p := mustLoad(t, h, moody(), testManifest())
	call := func(e *abi.Event, want error) {
		t.Helper()
		if _, _, err := p.Extract(ctx, e); !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		}
	}
	call(long(), ErrTrap)
	call(long(), ErrTrap)
	call(someText(), nil) // this ends the row
	call(long(), ErrTrap)
	call(long(), ErrTrap)
	call(long(), ErrTrap)
	call(someText(), ErrDisabled)
	if n := len(faults); n != 5 || faults[3].Disabled || !faults[4].Disabled || faults[4].Kind != FaultTrap || faults[4].Plugin != "test/plugin" {
		t.Errorf("%d faults: %+v", n, faults)
	}
	if s := p.Stats(); !s.Disabled || s.Faults[FaultTrap] != 5 || s.InARow != 3 || s.Calls != 6 || s.Starts != 5 {
		t.Errorf("%+v", s)
	}
	p.Enable()
	call(someText(), nil)
	if s := p.Stats(); s.Disabled || s.InARow != 0 {
		t.Errorf("%+v", s)
	}
}

// TestFaultByContextLine: the plugin fails on a line, and again when that line is the context of the
// next one. The next line is then read alone, unless the plugin looks for secrets.
func TestFaultByContextLine(t *testing.T) {
	after := func() *abi.Event {
		e := someText()
		e.Before = []abi.Turn{{ID: "w", Text: long().Text}}
		return e
	}
	h := newHost(t, Options{})
	m := testManifest()
	m.Capabilities = []Capability{CapContext}
	p := mustLoad(t, h, moody(), m)
	for range 4 {
		if _, u, err := p.Extract(t.Context(), after()); err != nil || u.Time <= 0 {
			t.Errorf("%v, %+v", err, u)
		}
	}
	if s := p.Stats(); s.Disabled || s.Faults[FaultTrap] != 4 || s.InARow != 0 || !p.DisabledSince().IsZero() {
		t.Errorf("%+v", s)
	}
	both := long()
	both.Before = after().Before
	for i := range 3 {
		if _, _, err := p.Extract(t.Context(), both); !errors.Is(err, ErrTrap) || p.Stats().InARow != i+1 {
			t.Errorf("%v, %+v", err, p.Stats())
		}
	}
	if !p.Disabled() || p.DisabledSince().IsZero() {
		t.Errorf("%+v", p.Stats())
	}
	m.ID, m.Capabilities = "test/redacts", []Capability{CapContext, CapRedact}
	if _, _, err := mustLoad(t, h, moody(), m).Extract(t.Context(), after()); !errors.Is(err, ErrTrap) {
		t.Error(err)
	}
}

// TestFreshAfterTrap: what a call left in memory before a trap is gone.
func TestFreshAfterTrap(t *testing.T) {
	a := &asm{globals: [][]byte{{0x7f, 1, 0x41, 0, 0x0b}}}
	// Traps the second time, but only if it remembers the first.
	a.plugin([]byte{0x23, 0, 0x04, 0x40, 0x00, 0x0b}, i32c(1), []byte{0x24, 0}, i64c(0))
	h := newHost(t, Options{MaxFaults: 100})
	p := mustLoad(t, h, a, testManifest())
	for i := range 6 {
		_, u, err := p.Extract(context.Background(), someText())
		if trapped := errors.Is(err, ErrTrap); trapped != (i%2 == 1) || u.Fresh != (i%2 == 0) {
			t.Errorf("call %d: %v, %+v", i, err, u)
		}
	}
}

func TestUnwantedEventKind(t *testing.T) {
	ctx := context.Background()
	h := newHost(t, Options{})
	p := mustLoad(t, h, new(asm).plugin(i64c(0)), testManifest())
	if _, _, err := p.Extract(ctx, &abi.Event{Kind: "photo"}); !errors.Is(err, ErrKind) {
		t.Error(err)
	}
	e := someText()
	e.Gray = make([]byte, abi.MaxInput)
	if _, _, err := p.Extract(ctx, e); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := p.Extract(gone, someText()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if s := p.Stats(); len(s.Faults) != 0 || s.Calls != 0 {
		t.Errorf("%+v", s)
	}
	own := answering(abi.AppendError(nil, abi.CodePlugin, "no model"))
	own.funcs[2].body = i64c(128<<10<<32 | 1<<31 | int64(len(abi.AppendError(nil, abi.CodePlugin, "no model"))))
	if _, _, err := ask(t, h, own, testManifest()); !errors.Is(err, ErrPlugin) || errors.Is(err, ErrOutput) {
		t.Error(err)
	}
}

// TestIdle: an unused plugin frees its memory and code, and can only return from the same module.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		h, err := NewHost(ctx, Options{Idle: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close(ctx)
		module := new(asm).plugin(i64c(0)).bytes()
		opened := 0
		p, err := h.LoadFrom(ctx, func() ([]byte, error) { opened++; return module, nil }, testManifest(), nil)
		if err != nil {
			t.Fatal(err)
		}
		call := func(want error) {
			t.Helper()
			if _, _, err := p.Extract(ctx, someText()); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		time.Sleep(50 * time.Second)
		call(nil)
		time.Sleep(50 * time.Second)
		if synctest.Wait(); !p.loaded() || p.Stats().Instances != 1 {
			t.Error("the plugin was released while in use")
		}
		time.Sleep(11 * time.Second)
		if synctest.Wait(); p.loaded() || p.Stats().Instances != 0 {
			t.Error("the idle plugin was not released")
		}
		call(nil)
		if !p.loaded() || opened != 2 {
			t.Errorf("opened %d times", opened)
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		module = new(asm).plugin(i64c(0), []byte{0x01}).bytes()
		call(ErrHash)
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		call(ErrClosed)
	})
}

func TestCache(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func() {
		t.Helper()
		h, err := NewHost(ctx, Options{CacheDir: dir, CacheKey: bytes.Repeat([]byte{1}, 32)})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close(ctx)
		if _, _, err := ask(t, h, moody(), testManifest()); err != nil {
			t.Fatal(err)
		}
	}
	run()
	files := 0
	walk := func(spoil bool) {
		files = 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if st, err := d.Info(); err != nil || st.Mode().Perm() != 0o700 {
					t.Errorf("%s: %v, %v", path, st.Mode(), err)
				}
				return nil
			}
			files++
			if spoil {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				b[len(b)/2] ^= 1
				return os.WriteFile(path, b, 0o600)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	walk(true)
	if files == 0 && engine(false) == Compiler {
		t.Error("nothing was cached")
	}
	run() // the damaged code is not run
	walk(false)
}

// TestSameFuelEverywhere: compiled or interpreted, the fuel is the same.
func TestSameFuelEverywhere(t *testing.T) {
	a := new(asm).plugin([]byte{0x03, 0x40, 0x20, 1}, i32c(1), []byte{0x6b, 0x22, 1, 0x0d, 0, 0x0b}, i64c(0))
	var used [2]int64
	for i, interpret := range []bool{false, true} {
		h := newHost(t, Options{Interpret: interpret})
		if interpret && (h.Engine() != Interpreter || h.timeScale() != interpreterScale) {
			t.Error(h.Engine())
		}
		_, u, err := ask(t, h, a, testManifest())
		if err != nil {
			t.Fatal(err)
		}
		used[i] = u.Fuel
	}
	if used[0] != used[1] || used[0] < 10 {
		t.Error(used)
	}
}

func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	h := newHost(t, Options{Instances: 2, MaxFaults: 1 << 30})
	p := mustLoad(t, h, moody(), testManifest())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				e, want := someText(), error(nil)
				if (i+j)%7 == 0 {
					e, want = long(), ErrTrap
				}
				if _, _, err := p.Extract(ctx, e); !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
				if n := p.Stats().Instances; n > 2 {
					t.Errorf("%d instances", n)
				}
			}
		})
	}
	wg.Wait()
}

func TestCloseTwice(t *testing.T) {
	ctx := context.Background()
	h, err := NewHost(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustLoad(t, h, moody(), testManifest())
	for range 2 {
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := p.Extract(ctx, someText()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := h.Load(ctx, moody().bytes(), testManifest()); err == nil {
		t.Error("loaded into a closed host")
	}
}

// TestHostFunctions: the event's time, settings, and random numbers that the
// event determines.
func TestHostFunctions(t *testing.T) {
	ctx := context.Background()
	a := &asm{datas: [][]byte{cat([]byte{0}, i32c(0), []byte{0x0b}, str("key"))}}
	now := a.importFn("locket", "now", "", tI64)
	config := a.importFn("locket", "config", tI32+tI32+tI32+tI32, tI32)
	random := a.importFn(wasiModule, "random_get", tI32+tI32, tI32)
	clock := a.importFn(wasiModule, "clock_time_get", tI32+tI64+tI32, tI32)
	a.plugin(
		i32c(64), []byte{0x10, byte(now), 0x37, 3, 0},
		i32c(72), i32c(0), i32c(3), i32c(80), i32c(16), []byte{0x10, byte(config), 0x36, 2, 0},
		i32c(96), i32c(32), []byte{0x10, byte(random), 0x1a},
		i32c(0), i64c(0), i32c(128), []byte{0x10, byte(clock), 0x1a},
		i64c(0))
	read := func(id, setting string) (now, clock uint64, value string, n int32, random string) {
		h := newHost(t, Options{})
		p, err := h.LoadFrom(ctx, func() ([]byte, error) { return a.bytes(), nil }, testManifest(CapNow, CapConfig), map[string]string{"key": setting})
		if err != nil {
			t.Fatal(err)
		}
		e := someText()
		e.ID = id
		if _, _, err := p.Extract(ctx, e); err != nil {
			t.Fatal(err)
		}
		m := p.idle[0].module.Memory()
		now, _ = m.ReadUint64Le(64)
		clock, _ = m.ReadUint64Le(128)
		v, _ := m.Read(80, 16)
		l, _ := m.ReadUint32Le(72)
		r, _ := m.Read(96, 32)
		return now, clock, string(v), int32(l), string(r)
	}
	n, c, v, l, r := read("a", "a setting of 27 characters.")
	if n != 1758706200123 || c != n*1_000_000 || v != "a setting of 27 " || l != 27 {
		t.Error(n, c, v, l)
	}
	if _, _, _, _, again := read("a", ""); again != r {
		t.Error("the same event had other random numbers")
	}
	if _, _, _, _, other := read("b", ""); other == r {
		t.Error("another event had the same random numbers")
	}
}

// TestIdlePluginsReleaseMemory: plugins that were only loaded hold nothing, and come back when they are called; a
// plugin in use is left alone.
func TestIdlePluginsReleaseMemory(t *testing.T) {
	h := newHost(t, Options{})
	p := mustLoad(t, h, new(asm).plugin(i64c(0)), testManifest())
	in, err := p.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Rest(t.Context()); err != nil || !p.loaded() {
		t.Error("released while in use", err)
	}
	p.put(in)
	if err := h.Rest(t.Context()); err != nil || p.loaded() || p.Stats().Instances != 0 {
		t.Error("not released", err)
	}
	if _, _, err := p.Extract(t.Context(), someText()); err != nil || !p.loaded() {
		t.Error(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.Rest(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHostCallAfterDeadline: a late call ends where the clock can be checked.
func TestHostCallAfterDeadline(t *testing.T) {
	a := &asm{}
	yield := a.importFn(wasiModule, "sched_yield", "", tI32)
	a.plugin([]byte{0x03, 0x40, 0x10, byte(yield), 0x1a, 0x0c, 0, 0x0b, 0x00})
	m := testManifest()
	m.Limits = Limits{TimeMS: 1, Fuel: abi.MostFuel}
	if _, _, err := ask(t, newHost(t, Options{}), a, m); !errors.Is(err, ErrTime) {
		t.Error(err)
	}
	m.Limits = Limits{TimeMS: abi.MostTime, Fuel: 1000}
	if _, _, err := ask(t, newHost(t, Options{}), a, m); !errors.Is(err, ErrFuel) {
		t.Error(err)
	}
}

// TestInstanceIsRecycled: an instance is replaced after many calls, which nobody notices.
func TestInstanceIsRecycled(t *testing.T) {
	p := mustLoad(t, newHost(t, Options{}), new(asm).plugin(i64c(0)), testManifest())
	for i := range maxCalls + 1 {
		if _, u, err := p.Extract(context.Background(), someText()); err != nil || u.Fresh != (i%maxCalls == 0) {
			t.Fatal(i, u, err)
		}
	}
	if s := p.Stats(); s.Starts != 2 || s.Instances != 1 {
		t.Errorf("%+v", s)
	}
}
