package wasm

import (
	"bytes"
	"context"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// goldenFuel is the cost of programs under FuelRules 2, on every machine: these figures were taken
// on amd64, and the same test runs on arm64 (.ci/cross). A change of them is a change of the rules,
// and belongs in the changelog.
var goldenFuel = []struct {
	name string
	body [][]byte
	fuel int64
}{
	{"nothing", [][]byte{i64c(0)}, 2},
	// for n := len; n > 0; n-- {}
	{"a loop over the input", [][]byte{{0x03, 0x40, 0x20, 1}, i32c(1), {0x6b, 0x22, 1, 0x0d, 0, 0x0b}, i64c(0)}, 11},
	// The same with a call of an empty function in each turn, which is charged turn by turn.
	{"a loop that calls", [][]byte{{0x03, 0x40, 0x10, 0, 0x1a, 0x20, 1}, i32c(1), {0x6b, 0x22, 1, 0x0d, 0, 0x0b}, i64c(0)}, 74},
	// for { switch n { case 0: n = 1; continue; case 1: if len--; len != 0 { n = 0; continue } };
	// break }: only the jump back to 0 is charged
	{"a dispatch", [][]byte{i32c(0), {0x21, 0, 0x03, 0x40, 0x02, 0x40, 0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 2, 0, 1, 2, 0x0b}, i32c(1), {0x21, 0, 0x0c, 2, 0x0b, 0x20, 1},
		i32c(1), {0x6b, 0x22, 1, 0x04, 0x40}, i32c(0), {0x21, 0, 0x0c, 2, 0x0b, 0x0b, 0x0b}, i64c(0)}, 38},
	{"a filled page", [][]byte{i32c(0), i32c(7), i32c(64 << 10), {0xfc, 11, 0}, i64c(0)}, 1026},
	{"floating point", [][]byte{bytes.Repeat(cat([]byte{0x44, 0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0x40, 0x9f, 0x1a}), 40), i64c(0)}, 8},
	{"a page more", [][]byte{i32c(1), {0x40, 0, 0x1a}, i64c(0)}, 1026},
}

// TestGoldenFuel: a program costs the same everywhere: compiled, interpreted, and in a worker.
func TestGoldenFuel(t *testing.T) {
	for _, c := range goldenFuel {
		for _, interpret := range []bool{false, true} {
			everywhere(t, func(t *testing.T, load loader) {
				h := newHost(t, Options{Interpret: interpret})
				_, u, err := load.ask(t, h, new(asm).plugin(c.body...), testManifest())
				if err != nil || u.Fuel != c.fuel {
					t.Errorf("%s, interpreted %v: %d, want %d, %v", c.name, interpret, u.Fuel, c.fuel, err)
				}
			})
		}
	}
}

// TestSameAnswerAgain: a plugin that asks for the time and for random numbers answers the same
// event with the same bytes and the same fuel, wherever it runs.
func TestSameAnswerAgain(t *testing.T) {
	a := &asm{memory: []byte{0, 4}}
	now := a.importFn("locket", "now", "", tI64)
	random := a.importFn(wasiModule, "random_get", tI32+tI32, tI32)
	// {0: 1, 6: bytes of 16: eight of the time, eight random ones} at 128 KiB
	const at = 128 << 10
	head := "\xa2\x00\x01\x06\x50"
	a.datas = [][]byte{cat([]byte{0}, i32c(at), []byte{0x0b}, str(head))}
	a.plugin(i32c(at+5), []byte{0x10, byte(now), 0x37, 0, 0}, i32c(at+13), i32c(8), []byte{0x10, byte(random), 0x1a},
		i64c(at<<32|int64(len(head)+16)))
	m := testManifest(CapNow, CapState)
	var first []byte
	var cost int64
	everywhere(t, func(t *testing.T, load loader) {
		for _, interpret := range []bool{false, true} {
			p := load.must(t, newHost(t, Options{Interpret: interpret}), a, m)
			for range 2 {
				out, u, err := p.Extract(context.Background(), someText())
				if err != nil {
					t.Fatal(err)
				}
				got := abi.AppendOutput(nil, &out)
				if first == nil {
					first, cost = got, u.Fuel
				}
				if !bytes.Equal(got, first) || u.Fuel != cost {
					t.Errorf("%x for %d, and before %x for %d", got, u.Fuel, first, cost)
				}
			}
			other := someText()
			other.ID = "e2"
			if out, _, err := p.Extract(context.Background(), other); err != nil || bytes.Equal(out.State[8:], first[len(first)-8:]) {
				t.Errorf("another event had the same chance: %v", err)
			}
		}
	})
}
