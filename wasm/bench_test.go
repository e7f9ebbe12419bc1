package wasm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// BenchmarkRaw calls an export that returns its input: 200 bytes are copied in, and the result is
// read from memory.
func BenchmarkRaw(b *testing.B) {
	ctx := context.Background()
	h, err := NewHost(ctx, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(ctx)
	// ptr<<32 | len
	a := new(asm).plugin([]byte{0x20, 0, 0xad}, i64c(32), []byte{0x86, 0x20, 1, 0xad, 0x84})
	p, err := h.Load(ctx, a.bytes(), testManifest())
	if err != nil {
		b.Fatal(err)
	}
	in := p.idle[0]
	input := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		in.fuel.Set(abi.DefaultFuel)
		answer, err := in.run(input)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := in.module.Memory().Read(uint32(answer>>32), uint32(answer)); !ok {
			b.Fatal("outside")
		}
	}
}

// BenchmarkCall is an entire call of a plugin in Go: the event encoded and decoded, one candidate
// encoded, decoded and checked.
func BenchmarkCall(b *testing.B) {
	ctx := context.Background()
	h, err := NewHost(ctx, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(ctx)
	m := testManifest()
	m.Limits.Fuel = abi.MostFuel
	p, err := h.Load(ctx, echo(b), m)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{200, 20_000, 200_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := someText()
			// The candidate quotes the first 100 bytes; the rest is read.
			e.Text = strings.Repeat("0123456789", n/10)
			b.ReportAllocs()
			b.SetBytes(int64(n))
			var used int64
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				out, u, err := p.Extract(ctx, e)
				if err != nil || len(out.Candidates) != 1 {
					b.Fatal(out, err)
				}
				used = u.Fuel
				times = append(times, time.Since(start))
			}
			b.ReportMetric(median(times), "p50-ns")
			b.ReportMetric(float64(used), "fuel/op")
		})
	}
}

// BenchmarkFuel measures how much counting fuel slows down a plugin in Go: the original and the
// rewritten module take turns, and the fastest run of each counts.
func BenchmarkFuel(b *testing.B) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	module := echo(b)
	rewritten, _, err := fuel.Rewrite(module, fuel.Config{Pages: 256})
	if err != nil {
		b.Fatal(err)
	}
	e := someText()
	e.Text = strings.Repeat("0123456789", 2000)
	event := abi.AppendEvent(nil, e)
	var run [2]func() time.Duration
	for i, m := range [][]byte{module, rewritten} {
		inst, err := r.InstantiateWithConfig(ctx, m, moduleConfig)
		if err != nil {
			b.Fatal(err)
		}
		tank, _ := inst.ExportedGlobal(fuel.Fuel).(api.MutableGlobal)
		refill := func() {
			if tank != nil {
				tank.Set(1 << 62)
			}
		}
		call := func(name string, args ...uint64) uint64 {
			refill()
			res, err := inst.ExportedFunction(name).Call(ctx, args...)
			if err != nil {
				b.Fatal(err)
			}
			return append(res, 0)[0]
		}
		call("_initialize")
		run[i] = func() time.Duration {
			start := time.Now()
			ptr := call("locket_alloc", uint64(len(event)))
			inst.Memory().Write(uint32(ptr), event)
			call("locket_extract", ptr, uint64(len(event)))
			return time.Since(start)
		}
	}
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i := range run {
			best[i] = min(best[i], run[i]())
		}
	}
	b.ReportMetric(float64(best[0].Nanoseconds()), "ns-without")
	b.ReportMetric(float64(best[1].Nanoseconds()), "ns-with")
	b.ReportMetric(100*float64(best[1]-best[0])/float64(best[0]), "%-added")
}

// BenchmarkRewrite measures adding fuel to a plugin in Go.
func BenchmarkRewrite(b *testing.B) {
	module := echo(b)
	b.SetBytes(int64(len(module)))
	for b.Loop() {
		if _, _, err := fuel.Rewrite(module, fuel.Config{Pages: 256}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart measures loading a plugin in Go from the cache.
func BenchmarkStart(b *testing.B) {
	ctx := context.Background()
	h, err := NewHost(ctx, Options{CacheDir: b.TempDir(), Idle: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(ctx)
	p, err := h.Load(ctx, echo(b), testManifest())
	if err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		p.mu.Lock()
		if err := p.release(ctx); err != nil {
			b.Fatal(err)
		}
		p.mu.Unlock()
		if _, _, err := p.Extract(ctx, someText()); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	b.ReportMetric(median(times), "p50-ns")
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2].Nanoseconds())
}
