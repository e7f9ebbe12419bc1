package wasm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// TestAnswers: a plugin's answer is untrusted, in its place and its bytes.
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

// TestModules: modules that are refused before any of their code runs.
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
		{"over the limit", make([]byte, abi.MaxModule+1), ErrModule, "at most"},
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
		// The added globals can't be reached.
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

// TestTruncated: no truncated module can be loaded.
func TestTruncated(t *testing.T) {
	b := new(asm).plugin(i64c(0)).bytes()
	h := newHost(t, Options{})
	for i := range b {
		if _, err := h.Load(context.Background(), b[:i], testManifest()); !errors.Is(err, ErrModule) {
			t.Fatalf("%d of %d bytes: %v", i, len(b), err)
		}
	}
}
