package wasm

import (
	"bytes"
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// maker turns bytes into a valid module, all of whose loops are counted down, so that it ends.
type maker struct {
	data  []byte
	a     *asm
	calls []int // functions that may be called: earlier ones
	loops int   // loops nested so far
	size  int
}

func (m *maker) next(n int) int {
	if len(m.data) == 0 {
		return 0
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b) % n
}

// Locals of every function: two i64 parameters, then i64 2 and 3, and i32 4 and 5 as counters of
// nested loops, in which nothing is called, and 6, which selects a dispatch's branch.
var makerLocals = []byte{2, 2, 0x7e, 3, 0x7f}

// wide makes an i64, at most deep levels deep.
func (m *maker) wide(deep int) []byte {
	m.size++
	if deep <= 0 || m.size > 300 {
		return i64c(int64(m.next(256)) - 100)
	}
	switch m.next(12) {
	case 0:
		return i64c(int64(m.next(256))<<m.next(56) - 7)
	case 1, 2:
		return []byte{0x20, byte(m.next(4))}
	case 3:
		return []byte{0x23, 0}
	case 4, 5:
		ops := []byte{0x7c, 0x7d, 0x7e, 0x83, 0x85, 0x86, 0x8a, 0x7f, 0x82}
		return cat(m.wide(deep-1), m.wide(deep-1), []byte{ops[m.next(len(ops))]})
	case 6:
		return cat(m.narrow(deep-1), i32c(0xfff8), []byte{0x71, 0x29, 3, 0})
	case 7:
		return cat(m.narrow(deep-1), []byte{0x04, 0x7e}, m.wide(deep-1), []byte{0x05}, m.wide(deep-1), []byte{0x0b})
	case 8:
		if len(m.calls) > 0 && m.loops == 0 {
			return cat(m.wide(deep-1), m.wide(deep-1), []byte{0x10, byte(m.calls[m.next(len(m.calls))]), 0x1a})
		}
	case 9: // leaves the function from the middle
		return cat([]byte{0x02, 0x7e}, m.wide(deep-1), m.narrow(deep-1), []byte{0x0d, 0, 0x0b})
	case 10:
		return cat(m.wide(deep-1), m.narrow(deep-1), []byte{0x04, 0x40}, m.wide(deep-1), i32c(3), []byte{0x0f, 0x0b})
	case 11:
		return cat(m.narrow(deep-1), []byte{0xac})
	}
	return cat(m.wide(deep-1), m.wide(deep-1), m.narrow(deep-1), []byte{0x1b})
}

// narrow makes an i32.
func (m *maker) narrow(deep int) []byte {
	m.size++
	if deep <= 0 || m.size > 300 {
		return i32c(int32(m.next(256)))
	}
	switch m.next(6) {
	case 0:
		return cat(m.wide(deep-1), []byte{0xa7})
	case 1:
		return cat(m.wide(deep-1), m.wide(deep-1), []byte{0x53})
	case 2:
		return cat(m.narrow(deep-1), m.narrow(deep-1), []byte{0x6a})
	case 3:
		return []byte{0x3f, 0}
	case 4:
		return cat(i32c(int32(m.next(3))), []byte{0x40, 0})
	}
	return i32c(int32(m.next(256)))
}

// statement leaves the stack unchanged.
func (m *maker) statement(deep int) []byte {
	m.size++
	if deep <= 0 || m.size > 300 {
		return nil
	}
	switch m.next(10) {
	case 8:
		return m.dispatch(deep - 1)
	case 9: // a loop that is left in the middle, or returns what its last turn makes
		if m.loops == 2 {
			return nil
		}
		i := byte(4 + m.loops)
		m.loops++
		body := cat(m.statement(deep-1), m.narrow(1), []byte{0x0d, byte(1 + m.next(2)), 0x20, i}, i32c(1), []byte{0x6b, 0x22, i}, i32c(0), []byte{0x4a, 0x0d, 0}, m.wide(1))
		m.loops--
		return cat(i32c(int32(m.next(11))), []byte{0x21, i, 0x02, 0x40, 0x02, 0x40, 0x03, 0x7e}, body, []byte{0x0b, 0x21, 2, 0x0b, 0x0b})
	case 0:
		return cat(m.wide(deep-1), []byte{0x21, byte(m.next(4))})
	case 1:
		return cat(m.wide(deep-1), []byte{0x24, 0})
	case 2:
		return cat(m.narrow(deep-1), i32c(0xfff8), []byte{0x71}, m.wide(deep-1), []byte{0x37, 3, 0})
	case 3:
		if m.loops == 2 {
			return nil
		}
		i := byte(4 + m.loops)
		m.loops++
		body := m.block(deep - 1)
		m.loops--
		return cat(i32c(int32(m.next(11))), []byte{0x21, i, 0x03, 0x40}, body,
			[]byte{0x20, i}, i32c(1), []byte{0x6b, 0x22, i}, i32c(0), []byte{0x4a, 0x0d, 0, 0x0b})
	case 4:
		return cat(m.narrow(deep-1), []byte{0x04, 0x40}, m.block(deep-1), []byte{0x05}, m.block(deep-1), []byte{0x0b})
	case 5:
		return cat(i32c(int32(m.next(256))), i32c(int32(m.next(256))), i32c(int32(m.next(256))), [][]byte{{0xfc, 11, 0}, {0xfc, 10, 0, 0}}[m.next(2)])
	case 6:
		return cat([]byte{0x02, 0x40, 0x02, 0x40, 0x02, 0x40}, m.narrow(deep-1), []byte{0x0e, 2, 0, 1, 2, 0x0b}, m.block(deep-1), []byte{0x0b}, m.block(deep-1), []byte{0x0b})
	}
	return cat(m.wide(deep-1), []byte{0x1a})
}

// dispatch makes what Go makes of a function: a loop whose parts set a local and jump to its
// beginning, which continues with one of them. Each branch back, or that might be one, is counted
// down.
func (m *maker) dispatch(deep int) []byte {
	if m.loops > 0 {
		return nil
	}
	m.loops = 2 // it uses both counters
	parts := 1 + m.next(5)
	const counter, pc = 4, 6
	b := cat(i32c(int32(m.next(12))), []byte{0x21, counter}, i32c(int32(m.next(parts+2))), []byte{0x21, pc, 0x03, 0x40}, bytes.Repeat([]byte{0x02, 0x40}, parts), []byte{0x20, pc, 0x0e}, leb(uint64(parts)))
	odd := m.next(8) == 0 // its table is not in order
	for i := range parts + 1 {
		to := min(i, parts-1)
		if odd {
			to = m.next(parts)
		}
		b = append(b, byte(to))
	}
	for part := range parts {
		b = cat(b, []byte{0x0b}, m.statement(deep-1))
		to := m.next(parts + 1)
		set := cat(i32c(int32(to)), []byte{0x21, pc})
		left := parts - part - 1 // blocks that are still open
		switch {
		case to > part && to < parts && !odd && m.next(4) > 0: // ahead
			if m.next(2) == 0 {
				b = cat(b, m.narrow(1), []byte{0x04, 0x40}, set, []byte{0x0c, byte(left + 1), 0x0b})
			} else {
				b = cat(b, set, []byte{0x0c, byte(left)})
			}
		case m.next(3) > 0: // back, or unknown
			if m.next(2) == 0 {
				set = cat(i32c(int32(to)), []byte{0x01, 0x21, pc})
			}
			b = cat(b, []byte{0x20, counter}, i32c(1), []byte{0x6b, 0x22, counter}, i32c(0), []byte{0x4a, 0x04, 0x40}, set, []byte{0x0c, byte(left + 1), 0x0b})
		}
	}
	m.loops = 0
	return append(b, 0x0b)
}

func (m *maker) block(deep int) (b []byte) {
	for n := m.next(3); n >= 0; n-- {
		b = append(b, m.statement(deep)...)
	}
	return b
}

// makeModule makes a module with an export "run": (i64, i64) to (i64, i32).
func makeModule(data []byte) []byte {
	m := &maker{data: data, a: &asm{memory: []byte{1, 1, 4}, globals: [][]byte{{0x7e, 1, 0x42, 5, 0x0b}}}}
	for range 1 + m.next(4) {
		m.size = 0
		f := m.a.fn(tI64+tI64, tI64+tI32, m.block(5), m.wide(4), m.narrow(4))
		m.a.funcs[f].locals = makerLocals
		m.calls = append(m.calls, f)
	}
	m.a.export("run", 0, m.calls[len(m.calls)-1])
	m.a.export("memory", 2, 0)
	m.a.export("g", 3, 0)
	return m.a.bytes()
}

// outcome is everything that a run shows.
type outcome struct {
	trapped bool
	results [2]uint64
	global  uint64
	memory  []byte
}

func (o outcome) equal(p outcome) bool {
	return o.trapped == p.trapped && o.results == p.results && o.global == p.global && bytes.Equal(o.memory, p.memory)
}

// play runs the export "run", with fuel if the module needs any, and returns what is left.
func play(t *testing.T, r wazero.Runtime, module []byte, budget int64) (o outcome, left int64) {
	t.Helper()
	ctx := context.Background()
	inst, err := r.InstantiateWithConfig(ctx, module, moduleConfig)
	if err != nil {
		t.Fatalf("a valid module is refused: %v", err)
	}
	defer inst.Close(ctx)
	tank, _ := inst.ExportedGlobal(fuel.Fuel).(api.MutableGlobal)
	if tank != nil {
		tank.Set(uint64(budget))
	}
	res, err := inst.ExportedFunction("run").Call(ctx, 3, 4)
	o.trapped = err != nil
	copy(o.results[:], res)
	o.global = inst.ExportedGlobal("g").Get()
	b, _ := inst.Memory().Read(0, inst.Memory().Size())
	o.memory = bytes.Clone(b)
	if tank != nil {
		left = int64(tank.Get())
		if d := inst.ExportedGlobal(fuel.Depth).Get(); err == nil && d != 0 {
			t.Errorf("depth is %d after the call", d)
		}
	}
	return o, left
}

func newRuntime(t testing.TB) wazero.Runtime {
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfig().WithMemoryLimitPages(16))
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// FuzzSameBehaviour: a rewritten module does what the original does, each time for the same fuel;
// with one unit less it traps.
func FuzzSameBehaviour(f *testing.F) {
	for i := range 400 {
		seed := make([]byte, 400)
		x := uint32(i)*2654435761 + 1
		for j := range seed {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			seed[j] = byte(x >> 8)
		}
		f.Add(seed)
	}
	r := newRuntime(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		module := makeModule(data)
		out, _, err := fuel.Rewrite(module, fuel.Config{Pages: 16})
		if err != nil {
			t.Fatalf("a valid module is refused: %v", err)
		}
		again, _, _ := fuel.Rewrite(module, fuel.Config{Pages: 16})
		if !bytes.Equal(out, again) {
			t.Fatal("two rewritings differ")
		}
		const plenty = 1 << 40
		want, _ := play(t, r, module, 0)
		got, left := play(t, r, out, plenty)
		if !got.equal(want) {
			t.Fatalf("rewritten: %v %v %v, original: %v %v %v", got.trapped, got.results, got.global, want.trapped, want.results, want.global)
		}
		if want.trapped {
			return // the spent fuel is stored before a call and at the end
		}
		used := int64(plenty) - left
		if exact, rest := play(t, r, out, used); !exact.equal(want) || rest != 0 {
			t.Fatalf("with exactly %d of fuel: %d left, trapped %v", used, rest, exact.trapped)
		}
		if short, rest := play(t, r, out, used-1); !short.trapped || rest >= 0 {
			t.Fatalf("with one less than %d of fuel: %d left, trapped %v", used, rest, short.trapped)
		}
	})
}

// FuzzRewrite: no bytes make the rewriting panic, and it neither damages a valid module nor makes
// an invalid one valid.
func FuzzRewrite(f *testing.F) {
	f.Add(makeModule([]byte("a module of some kind, made from a text that is long enough to make a few statements")))
	a := answering([]byte("\xa1\x00\x01"))
	a.importFn("locket", "log", tI32+tI32, "")
	a.tables = [][]byte{{0x70, 0, 4}}
	a.elems = [][]byte{cat([]byte{0}, i32c(0), []byte{0x0b, 2, 0, 1})}
	f.Add(a.bytes())
	f.Add(new(asm).plugin(cat([]byte{0xfd, 12}, make([]byte, 16), []byte{0xfd, 21, 0, 0x1a}), i64c(0)).bytes())
	r := newRuntime(f)
	ctx := context.Background()
	f.Fuzz(func(t *testing.T, module []byte) {
		out, _, err := fuel.Rewrite(module, fuel.Config{Pages: 16})
		if err != nil {
			return
		}
		was, werr := r.CompileModule(ctx, module)
		if werr == nil {
			was.Close(ctx)
		}
		is, ierr := r.CompileModule(ctx, out)
		if ierr == nil {
			is.Close(ctx)
		}
		if (werr == nil) != (ierr == nil) {
			t.Fatalf("original: %v; rewritten: %v", werr, ierr)
		}
	})
}
