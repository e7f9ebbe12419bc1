package wasm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
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

// testManifest is of a plugin with all the time that there is: no test of
// anything but the time limit has to do with how fast the machine is.
func testManifest(caps ...Capability) Manifest {
	m := Manifest{ID: "test/plugin", Version: "1.0.0", ABI: 1, Kinds: []string{"text"}, Types: []string{"semantic"}, Capabilities: caps,
		Limits: Limits{TimeMS: abi.MostTime}}
	if m.Has(CapVault) {
		m.Types = append(m.Types, "vault")
	}
	return m
}

// unhurried takes a plugin with the longest time limit beyond the contract's:
// where a race detector and other tests slow the worker down, two seconds are
// not enough for 2 million units of fuel.
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

var spin = []byte{0x03, 0x40, 0x0c, 0, 0x0b} // loop br 0 end

// TestRunaway: whatever runs for ever, or nests for ever, is ended, and the
// fault says what it was.
func TestRunaway(t *testing.T) {
	trap := []byte{0x00}
	big := &asm{}
	big.plugin([]byte{0x20, 0, 0x20, 1, 0x10, 2}) // extract calls itself
	big.funcs[2].locals = cat([]byte{1}, leb(1500), []byte{0x7b})
	wide := &asm{}
	wide.plugin(bytes.Repeat(i64c(1), 20_000), []byte{0x20, 0, 0x20, 1, 0x10, 2, 0x1a}, bytes.Repeat([]byte{0x1a}, 20_000-1))
	indirect := &asm{tables: [][]byte{{0x70, 0, 1}}, elems: [][]byte{cat([]byte{0}, i32c(0), []byte{0x0b, 1, 2})}}
	indirect.plugin([]byte{0x20, 0, 0x20, 1, 0x41, 0}, []byte{0x11}, leb(uint64(indirect.typ(tI32+tI32, tI64))), []byte{0})
	for _, c := range []struct {
		name string
		a    *asm
		want error
	}{
		{"endless loop", new(asm).plugin(spin, trap), ErrFuel},
		{"loop in a loop", new(asm).plugin([]byte{0x03, 0x40}, spin, []byte{0x0b}, trap), ErrFuel},
		{"a dispatch that goes back", new(asm).plugin([]byte{0x03, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 0, 0x0b}, i32c(0), []byte{0x21, 0, 0x0c, 0, 0x0b}, trap), ErrFuel},
		{"a dispatch whose table goes back", new(asm).plugin([]byte{0x03, 0x40, 0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 2, 1, 0, 0, 0x0b}, i32c(1), []byte{0x21, 0, 0x0c, 1, 0x0b, 0x0b}, trap), ErrFuel},
		{"a dispatch by another local", new(asm).plugin([]byte{0x03, 0x40, 0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 0, 0x0b}, i32c(1), []byte{0x21, 1, 0x0c, 1, 0x0b, 0x0b}, trap), ErrFuel},
		{"a dispatch that goes on by itself", new(asm).plugin([]byte{0x03, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 1, 0x0b, 0x0b}, trap), ErrFuel},
		{"recursion", new(asm).plugin([]byte{0x20, 0, 0x20, 1, 0x10, 2}), ErrStack},
		{"recursion with 24 KB of locals", big, ErrStack},
		{"recursion with 160 KB of operands", wide, ErrStack},
		{"recursion through a table", indirect, ErrStack},
		{"memory bomb", new(asm).plugin([]byte{0x03, 0x40}, i32c(1), []byte{0x40, 0}, i32c(0), []byte{0x4e, 0x0d, 0, 0x0b}, trap), ErrMemory},
		{"4 GiB at once", new(asm).plugin(i32c(-1), []byte{0x40, 0, 0x1a}, trap), ErrFuel},
		{"past the end of memory", new(asm).plugin(i32c(-1), []byte{0x28, 2, 0, 0x1a}, trap), ErrTrap},
		{"fill storm", new(asm).plugin([]byte{0x03, 0x40}, i32c(0), i32c(0), i32c(1<<17), []byte{0xfc, 11, 0, 0x0c, 0, 0x0b}, trap), ErrFuel},
		{"unreachable", new(asm).plugin(trap), ErrTrap},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, Options{})
			m := testManifest()
			m.Limits.Fuel = 2_000_000 // enough to show it, where wazero interprets too
			p := mustLoad(t, h, c.a, m)
			_, u, err := p.Extract(context.Background(), someText())
			var f *Fault
			if !errors.Is(err, c.want) || !errors.As(err, &f) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if u.Memory > abi.DefaultMemory {
				t.Errorf("%d bytes of memory", u.Memory)
			}
			if s := p.Stats(); s.Faults[f.Kind] != 1 || s.Instances != 0 {
				t.Errorf("%+v: want one fault, and its instance gone", s)
			}
		})
	}
}

// TestRunawayStart: the same before the first call; such a plugin is not loaded.
func TestRunawayStart(t *testing.T) {
	start := new(asm).plugin(i64c(0))
	start.start = start.fn("", "", spin)
	initialize := new(asm).plugin(i64c(0))
	initialize.export("_initialize", 0, initialize.fn("", "", spin))
	version := new(asm).plugin(i64c(0))
	version.funcs[0].body = cat(spin, []byte{0x00})
	deep := new(asm).plugin(i64c(0))
	deep.start = deep.fn("", "", []byte{0x10, 3})
	grow := new(asm).plugin(i64c(0))
	grow.start = grow.fn("", "", []byte{0x03, 0x40}, i32c(1), []byte{0x40, 0}, i32c(0), []byte{0x4e, 0x0d, 0, 0x0b, 0x00})
	for _, c := range []struct {
		name string
		a    *asm
		want error
	}{
		{"start", start, ErrFuel}, {"_initialize", initialize, ErrFuel}, {"locket_abi", version, ErrFuel},
		{"recursion in start", deep, ErrStack}, {"memory in start", grow, ErrMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, Options{})
			if _, err := h.Load(context.Background(), c.a.bytes(), testManifest()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if n := len(h.Plugins()); n != 0 {
				t.Errorf("%d plugins are loaded", n)
			}
		})
	}
}

// TestStartRuns: a start function runs once, before anything else, and the
// memory that it wrote is there.
func TestStartRuns(t *testing.T) {
	out := abi.AppendOutput(nil, &abi.Output{Annotations: []abi.Annotation{{Kind: "x"}}})
	a := answering(out)
	a.start = a.fn("", "", i32c(0), i32c(0), []byte{0x28, 2, 0}, i32c(1), []byte{0x6a, 0x36, 2, 0}) // mem[0]++
	a.funcs[2].body = cat(i32c(0), []byte{0x28, 2, 0}, i32c(1), []byte{0x46, 0x45, 0x04, 0x40, 0x00, 0x0b}, a.funcs[2].body)
	if o, _, err := ask(t, newHost(t, Options{}), a, testManifest()); err != nil || len(o.Annotations) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestBulkIsCharged: one bulk operation costs by its length.
func TestBulkIsCharged(t *testing.T) {
	const n = 64 << 10
	passive := [][]byte{cat([]byte{1}, leb(n), make([]byte, n))}
	table := func() *asm { return &asm{tables: [][]byte{{0x70, 0, 0x80, 0x40}}} } // 8192
	elems := cat([]byte{5, 0x70}, leb(4096), bytes.Repeat([]byte{0xd0, 0x70, 0x0b}, 4096))
	nothing := i64c(0)
	for _, c := range []struct {
		name  string
		a     *asm
		least int64
	}{
		{"memory.fill", new(asm).plugin(i32c(0), i32c(0), i32c(n), []byte{0xfc, 11, 0}, nothing), n / fuel.BulkUnit},
		{"memory.copy", new(asm).plugin(i32c(0), i32c(16), i32c(n), []byte{0xfc, 10, 0, 0}, nothing), n / fuel.BulkUnit},
		{"memory.init", (&asm{datas: passive, count: true}).plugin(i32c(0), i32c(0), i32c(n), []byte{0xfc, 8, 0, 0}, nothing), n / fuel.BulkUnit},
		{"memory.grow", new(asm).plugin(i32c(3), []byte{0x40, 0, 0x1a}, nothing), 3 * fuel.PageUnits},
		{"table.grow", table().plugin([]byte{0xd0, 0x70}, i32c(4096), []byte{0xfc, 15, 0, 0x1a}, nothing), 4096 / fuel.ElementUnit},
		{"table.fill", table().plugin(i32c(0), []byte{0xd0, 0x70}, i32c(4096), []byte{0xfc, 17, 0}, nothing), 4096 / fuel.ElementUnit},
		{"table.copy", table().plugin(i32c(0), i32c(16), i32c(4096), []byte{0xfc, 14, 0, 0}, nothing), 4096 / fuel.ElementUnit},
		{"table.init", (&asm{tables: table().tables, elems: [][]byte{elems}}).plugin(i32c(0), i32c(0), i32c(4096), []byte{0xfc, 12, 0, 0}, nothing), 4096 / fuel.ElementUnit},
		{"a long stretch", new(asm).plugin(bytes.Repeat([]byte{0x01}, 10*fuel.WeightUnit), nothing), 10},
		{"divisions", new(asm).plugin(i32c(1), bytes.Repeat(cat(i32c(7), []byte{0x6e}), 100), []byte{0x1a}, nothing), 100 * 8 / fuel.WeightUnit},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, u, err := ask(t, newHost(t, Options{}), c.a, testManifest())
			if err != nil {
				t.Fatal(err)
			}
			if u.Fuel < c.least || u.Fuel > c.least+100 {
				t.Errorf("it cost %d, want %d and a little", u.Fuel, c.least)
			}
		})
	}
}

// TestTableBomb: a table without a maximum gets one.
func TestTableBomb(t *testing.T) {
	a := &asm{tables: [][]byte{{0x70, 0, 0}}}
	// Trap unless growing to over the limit fails.
	a.plugin([]byte{0xd0, 0x70}, i32c(fuel.MaxElements+1), []byte{0xfc, 15, 0}, i32c(-1), []byte{0x47, 0x04, 0x40, 0x00, 0x0b}, i64c(0))
	if _, _, err := ask(t, newHost(t, Options{}), a, testManifest()); err != nil {
		t.Error(err)
	}
}

// TestAnswers: what a plugin answers with is untrusted: place and bytes.
func TestAnswers(t *testing.T) {
	ok := abi.AppendOutput(nil, &abi.Output{Annotations: []abi.Annotation{{Kind: "x"}}})
	overlap := &asm{datas: [][]byte{cat([]byte{0}, i32c(inputAt-4), []byte{0x0b}, str(string(ok)))}}
	many := cat([]byte("\xa2\x00\x01\x01\x9a\x00\x0f\x42\x40"), bytes.Repeat([]byte{0xa0}, 200_000))
	noRoom := new(asm).plugin(i64c(0))
	noRoom.funcs[1].body = i32c(0)
	outside := new(asm).plugin(i64c(0))
	outside.funcs[1].body = i32c(-8)
	at := func(ptr, n int64) *asm { return new(asm).plugin(i64c(ptr<<32 | n)) }
	for _, c := range []struct {
		name string
		a    *asm
		code abi.Code
	}{
		{"pointer past the end", at(1<<30, 16), abi.CodeRange},
		{"negative pointer", at(-1, 16), abi.CodeRange},
		{"length past the end", at(2<<16-8, 16), abi.CodeRange},
		{"length of 4 GiB", new(asm).plugin(i64c(1<<32 | 0x7fffffff)), abi.CodeLimit},
		{"error of 4 GiB", new(asm).plugin(i64c(1<<32 | 0xffffffff)), abi.CodeLimit},
		{"zero memory", at(8, 16), abi.CodeType},
		{"overlapping the input", overlap.plugin(i64c((inputAt-4)<<32 | int64(len(ok)))), abi.CodeType},
		{"the input itself", new(asm).plugin(i64c(inputAt<<32 | 4)), abi.CodeTruncated},
		{"a million candidates", answering(many), abi.CodeLimit},
		{"claimed candidates", answering([]byte("\xa2\x00\x01\x01\x98\x40")), abi.CodeTruncated},
		{"not UTF-8", answering([]byte("\xa2\x00\x01\x01\x81\xa1\x02\x62\xc3\x28")), abi.CodeUTF8},
		{"deep", answering(bytes.Repeat([]byte{0x81}, 100_000)), abi.CodeType},
		{"indefinite", answering([]byte("\xbf\x00\x01\xff")), abi.CodeForm},
		{"huge count", answering([]byte("\xbb\x7f\xff\xff\xff\xff\xff\xff\xff")), abi.CodeLimit},
		{"another user", answering([]byte("\xa2\x00\x01\x01\x81\xa1\x18\x1f\x65other")), abi.CodeUnknown},
		{"over its own limit", answering(make([]byte, abi.MaxOutput+1)), abi.CodeLimit},
		{"no room", noRoom, abi.CodeRange},
		{"room outside", outside, abi.CodeRange},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, err := ask(t, newHost(t, Options{}), c.a, testManifest())
			var e *abi.Error
			if !errors.Is(err, ErrOutput) || !errors.As(err, &e) || e.Code != c.code {
				t.Errorf("got %v, want %v", err, c.code)
			}
			if !out.Empty() {
				t.Errorf("there is an output: %+v", out)
			}
		})
	}
}

// TestModules: what is refused before any of it runs.
func TestModules(t *testing.T) {
	good := func() *asm { return new(asm).plugin(i64c(0)) }
	with := func(f func(a *asm)) []byte {
		a := good()
		f(a)
		return a.bytes()
	}
	importing := func(module, name string, desc ...byte) []byte {
		a := &asm{}
		a.typ("", "")
		a.imports = []asmImport{{module, name, desc}}
		return a.plugin(i64c(0)).bytes()
	}
	body := func(b ...[]byte) []byte { return new(asm).plugin(append(b, i64c(0))...).bytes() }
	for _, c := range []struct {
		name   string
		module []byte
		want   error
		says   string
	}{
		{"empty", nil, ErrModule, "bytes wanted"},
		{"text", []byte("#!/bin/sh\nexit\n"), ErrModule, "does not begin"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), ErrModule, "component"},
		{"over 8 MB", make([]byte, abi.MaxModule+1), ErrModule, "at most"},
		{"minimum over the limit", with(func(a *asm) { a.memory = cat([]byte{0}, leb(257)) }), ErrMemory, "257 pages"},
		{"minimum of 4 GiB", with(func(a *asm) { a.memory = cat([]byte{0}, leb(65536)) }), ErrMemory, "65536 pages"},
		{"shared memory", with(func(a *asm) { a.memory = []byte{3, 1, 2} }), ErrModule, "limits of form"},
		{"64K functions", with(func(a *asm) {
			for range 64 << 10 {
				a.fn("", "")
			}
		}), ErrModule, "functions"},
		{"giant br_table", body(i32c(0), []byte{0x0e}, leb(1_000_000), make([]byte, 1_000_001)), ErrModule, "branch targets"},
		{"many br_tables", body(bytes.Repeat(cat([]byte{0x02, 0x40}, i32c(0), []byte{0x0e}, leb(10_000), make([]byte, 10_001), []byte{0x0b}), 7)), ErrModule, "branch targets"},
		{"many data segments", with(func(a *asm) {
			a.datas = make([][]byte, 100_001)
			for i := range a.datas {
				a.datas[i] = []byte{1, 0}
			}
		}), ErrModule, "data segments"},
		{"data outside", with(func(a *asm) { a.datas = [][]byte{cat([]byte{0}, i32c(2<<16), []byte{0x0b, 1, 0})} }), ErrModule, "data"},
		{"big table", with(func(a *asm) { a.tables = [][]byte{cat([]byte{0x70, 0}, leb(1<<30))} }), ErrModule, "elements"},
		{"many elements", with(func(a *asm) {
			a.tables = [][]byte{{0x70, 0, 1}}
			a.elems = [][]byte{cat([]byte{1, 0}, leb(70_000), make([]byte, 70_000))}
		}), ErrModule, "elements"},
		{"many elements in several segments", with(func(a *asm) {
			a.tables = [][]byte{{0x70, 0, 1}}
			a.elems = [][]byte{cat([]byte{1, 0}, leb(40_000), make([]byte, 40_000)), cat([]byte{1, 0}, leb(40_000), make([]byte, 40_000))}
		}), ErrModule, "elements"},
		{"many locals", with(func(a *asm) { a.funcs[2].locals = cat([]byte{1}, leb(1<<31), []byte{0x7e}) }), ErrModule, "locals"},
		{"deep nesting", body(bytes.Repeat([]byte{0x02, 0x40}, 10_001), bytes.Repeat([]byte{0x0b}, 10_001)), ErrModule, "nested"},
		{"locals times blocks", with(func(a *asm) {
			a.funcs[2].locals = cat([]byte{1}, leb(1900), []byte{0x7e})
			a.funcs[2].body = cat(bytes.Repeat([]byte{0x02, 0x40, 0x0b}, 9000), i64c(0))
		}), ErrModule, "locals times blocks"},
		{"a megabyte of function", body(bytes.Repeat([]byte{1}, 1<<20)), ErrModule, "bytes in a function"},
		{"no abi", (&asm{exports: []asmExport{{"memory", 2, 0}}}).bytes(), ErrModule, "locket_abi"},
		{"extract of another type", with(func(a *asm) { a.exports[3].idx = 0 }), ErrModule, "locket_extract"},
		{"version 2", with(func(a *asm) { a.funcs[0].body = i32c(2) }), ErrModule, "version 2"},
		{"unknown import", importing("env", "system", 0, 0), ErrImport, `"env"."system"`},
		{"imports what was not granted", importing("locket", "log", 0, 0), ErrImport, "capability"},
		{"unknown of ours", importing("locket", "open", 0, 0), ErrImport, "open"},
		{"network", importing("wasi_snapshot_preview1", "sock_accept", 0, 0), ErrImport, "sock_accept"},
		{"imports a memory", importing("env", "memory", 2, 0, 1), ErrModule, "no function"},
		{"imports a global", importing("env", "g", 3, 0x7f, 0), ErrModule, "no function"},
		{"import of another type", importing("wasi_snapshot_preview1", "fd_close", 0, 0), ErrModule, ""},
		{"threads", body([]byte{0xfe, 0, 2, 0}), ErrModule, "instruction"},
		{"tail call", body([]byte{0x12, 0}), ErrModule, "instruction"},
		{"invalid body", body([]byte{0x6a}), ErrModule, ""},
		{"two bodies too many", with(func(a *asm) { a.funcs = a.funcs[:2] }), ErrModule, ""},
		// What was put in can't be reached.
		{"reads the fuel", body([]byte{0x23, 0, 0x1a}), ErrModule, "global 0 of 0"},
		{"sets the fuel", body(i64c(1<<40), []byte{0x24, 0}), ErrModule, "global 0 of 0"},
		{"exports the fuel", with(func(a *asm) { a.export("x", 3, 0) }), ErrModule, "export 0 of 0"},
		{"takes the name", with(func(a *asm) { a.export("locket:fuel", 0, 0) }), ErrModule, "host's"},
		{"branches past the body", body(i64c(0), []byte{0x0c, 1}), ErrModule, "label 1 of 1"},
		{"sets the spare local", body(i64c(0), []byte{0x21, 2}), ErrModule, "local 2 of 2"},
		{"uses the added type", with(func(a *asm) {
			a.fn("", tI32+tI32, i32c(0), i32c(0))
			a.funcs[2].body = cat([]byte{0x02, byte(len(a.types))}, i32c(0), i32c(0), []byte{0x0b, 0x1a, 0x1a}, i64c(0))
		}), ErrModule, "type of a block"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newHost(t, Options{}).Load(context.Background(), c.module, testManifest())
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.want, c.says)
			}
		})
	}
	if _, err := newHost(t, Options{}).Load(context.Background(), good().bytes(), testManifest()); err != nil {
		t.Errorf("the plain module: %v", err)
	}
}

// TestTruncated: no beginning of a module loads.
func TestTruncated(t *testing.T) {
	b := new(asm).plugin(i64c(0)).bytes()
	h := newHost(t, Options{})
	for i := range b {
		if _, err := h.Load(context.Background(), b[:i], testManifest()); !errors.Is(err, ErrModule) {
			t.Fatalf("%d of %d bytes: %v", i, len(b), err)
		}
	}
}

func TestLogFlood(t *testing.T) {
	everywhere(t, func(t *testing.T, load loader) {
		p, err := load(t, newHost(t, Options{}), logFlood(), testManifest(CapLog))
		if err != nil {
			t.Fatal(err)
		}
		for range 61 {
			if _, _, err := p.Extract(context.Background(), someText()); err != nil {
				t.Fatal(err)
			}
		}
		lines := p.Logs()
		if len(lines) != keptLines || len(lines[0]) > abi.MaxLogLine {
			t.Errorf("%d lines, the first of %d bytes", len(lines), len(lines[0]))
		}
	})
}
