package wasm

import (
	"github.com/locket-dev/locket/wasm/abi"
)

// asm assembles a module by hand, because no compiler makes hostile ones.
type asm struct {
	types   []string // "params>results", value types as bytes
	imports []asmImport
	funcs   []asmFunc
	tables  [][]byte // type, limits
	memory  []byte   // limits; nil: 2 pages, no maximum
	globals [][]byte
	exports []asmExport
	start   int // function; 0: none, since function 0 never is one to start
	elems   [][]byte
	datas   [][]byte
	count   bool // write the number of data segments
}

type asmImport struct {
	module, name string
	desc         []byte
}

type asmFunc struct {
	typ    int
	locals []byte // count of declarations, and the declarations; nil: none
	body   []byte // without the last end
}

type asmExport struct {
	name string
	kind byte
	idx  int
}

func leb(v uint64) (b []byte) {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func sleb(v int64) (b []byte) {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func cat(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func i32c(v int32) []byte { return append([]byte{0x41}, sleb(int64(v))...) }
func i64c(v int64) []byte { return append([]byte{0x42}, sleb(v)...) }

func str(s string) []byte { return append(leb(uint64(len(s))), s...) }

func (a *asm) typ(params, results string) int {
	t := params + ">" + results
	for i, have := range a.types {
		if have == t {
			return i
		}
	}
	a.types = append(a.types, t)
	return len(a.types) - 1
}

// fn adds a function and returns its index; imports come first.
func (a *asm) fn(params, results string, body ...[]byte) int {
	a.funcs = append(a.funcs, asmFunc{typ: a.typ(params, results), body: cat(body...)})
	return len(a.imports) + len(a.funcs) - 1
}

func (a *asm) export(name string, kind byte, idx int) {
	a.exports = append(a.exports, asmExport{name, kind, idx})
}

func (a *asm) importFn(module, name, params, results string) int {
	a.imports = append(a.imports, asmImport{module, name, append([]byte{0}, leb(uint64(a.typ(params, results)))...)})
	return len(a.imports) - 1
}

func vec(items [][]byte) []byte {
	b := leb(uint64(len(items)))
	for _, i := range items {
		b = append(b, i...)
	}
	return b
}

func (a *asm) bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, body []byte) { out = cat(out, []byte{id}, leb(uint64(len(body))), body) }
	list := func(id byte, items [][]byte) {
		if len(items) > 0 {
			section(id, vec(items))
		}
	}
	var types, imports, funcs, exports, codes [][]byte
	for _, t := range a.types {
		for i := range t {
			if t[i] == '>' {
				types = append(types, cat([]byte{0x60}, str(t[:i]), str(t[i+1:])))
			}
		}
	}
	for _, i := range a.imports {
		imports = append(imports, cat(str(i.module), str(i.name), i.desc))
	}
	for _, f := range a.funcs {
		funcs = append(funcs, leb(uint64(f.typ)))
		locals := f.locals
		if locals == nil {
			locals = []byte{0}
		}
		code := cat(locals, f.body, []byte{0x0b})
		codes = append(codes, cat(leb(uint64(len(code))), code))
	}
	for _, e := range a.exports {
		exports = append(exports, cat(str(e.name), []byte{e.kind}, leb(uint64(e.idx))))
	}
	memory := a.memory
	if memory == nil {
		memory = []byte{0, 2}
	}
	list(1, types)
	list(2, imports)
	list(3, funcs)
	list(4, a.tables)
	list(5, [][]byte{memory})
	list(6, a.globals)
	list(7, exports)
	if a.start > 0 {
		section(8, leb(uint64(a.start)))
	}
	list(9, a.elems)
	if a.count {
		section(12, leb(uint64(len(a.datas))))
	}
	list(10, codes)
	list(11, a.datas)
	return out
}

const (
	tI32 = "\x7f"
	tI64 = "\x7e"
	// The address at which plugin puts the input.
	inputAt = 4096
)

// plugin makes a module of the contract around the body of locket_extract, whose locals are the
// input's pointer and length.
func (a *asm) plugin(extract ...[]byte) *asm {
	a.export("memory", 2, 0)
	a.export("locket_abi", 0, a.fn("", tI32, i32c(abi.Version)))
	a.export("locket_alloc", 0, a.fn(tI32, tI32, i32c(inputAt)))
	a.export("locket_extract", 0, a.fn(tI32+tI32, tI64, extract...))
	return a
}

// answering makes a plugin that always answers with b.
func answering(b []byte) *asm {
	a := &asm{memory: []byte{0, 16}}
	const at = 128 << 10
	a.datas = append(a.datas, cat([]byte{0}, i32c(at), []byte{0x0b}, str(string(b))))
	return a.plugin(i64c(at<<32 | int64(len(b))))
}
