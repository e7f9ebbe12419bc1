package wasm

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

var spin = []byte{0x03, 0x40, 0x0c, 0, 0x0b} // loop br 0 end

// TestRunaway: code that runs or recurses for ever is ended, and the fault names the cause.
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
			m.Limits.Fuel = 2_000_000 // enough to show it, even if wazero interprets
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

// TestBulkOperationsUseFuel: a bulk operation costs according to its length.
func TestBulkOperationsUseFuel(t *testing.T) {
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
	// Trap unless growing beyond the limit fails.
	a.plugin([]byte{0xd0, 0x70}, i32c(fuel.MaxElements+1), []byte{0xfc, 15, 0}, i32c(-1), []byte{0x47, 0x04, 0x40, 0x00, 0x0b}, i64c(0))
	if _, _, err := ask(t, newHost(t, Options{}), a, testManifest()); err != nil {
		t.Error(err)
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
