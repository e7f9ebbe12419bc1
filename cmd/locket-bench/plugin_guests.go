package main

import (
	"fmt"
	"math"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/guests"
	"github.com/locket-dev/locket/cmd/locket-bench/guests/work"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/measure"
)

// languages are the kinds of guest that do the same work.
var languages = []guests.Kind{guests.C, guests.Rust, guests.AS, guests.Go}

// fuel measures what counting fuel adds to a call that reads each byte of 20 KB of text, in loops
// of a few instructions, which are the most expensive to count. The module as built and as
// rewritten take turns. The fastest call of each counts, because other programs on the machine only
// add time.
func (b *pluginBench) fuel() error {
	for _, k := range languages {
		if !b.has(k) {
			continue
		}
		e := textEvent(20_000)
		e.Kind = "utterance" // its spaces are counted
		event := abi.AppendEvent(nil, e)
		best := [2]float64{math.Inf(1), math.Inf(1)}
		var pair [2]*measure.Guest
		for i := range pair {
			g, err := measure.Open(b.ctx, b.modules[k], i == 1)
			if err != nil {
				return err
			}
			defer g.Close()
			pair[i] = g
		}
		calls := 40 * b.rounds
		for range calls {
			for i, g := range pair {
				begin := time.Now()
				if _, failed, err := g.Call(event); err != nil || failed {
					return fmt.Errorf("guest %s: refused %t: %w", k, failed, err)
				}
				best[i] = min(best[i], float64(time.Since(begin))/float64(time.Microsecond))
			}
		}
		b.add(result{Case: "fuel_" + string(k), N: calls, Value: 100 * (best[1] - best[0]) / best[0], Unit: "%",
			Note: fmt.Sprintf("%.2f µs without, %.2f with, for 20 KB", best[0], best[1])})
	}
	return nil
}

// languages measures each guest on its own.
func (b *pluginBench) languages() error {
	for _, k := range languages {
		if !b.has(k) {
			continue
		}
		var compile, instantiate []float64
		var g *measure.Guest
		for range max(1, b.rounds/4) {
			if g != nil {
				if err := g.Close(); err != nil {
					return err
				}
			}
			var err error
			if g, err = measure.Open(b.ctx, b.modules[k], true); err != nil {
				return err
			}
			compile = append(compile, g.Compile.Seconds()*1000)
			instantiate = append(instantiate, g.Instantiate.Seconds()*1e6)
		}
		event := abi.AppendEvent(nil, textEvent(200))
		t, err := inTurns(b.rounds, 200, func() error {
			_, _, err := g.Call(event)
			return err
		})
		if err != nil {
			return err
		}
		memory := g.Memory()
		if err := g.Close(); err != nil {
			return err
		}
		for _, r := range []result{
			{Case: "size_", Value: float64(len(b.modules[k])) / 1000, Unit: "KB", N: 1},
			{Case: "compile_", Value: percentile(compile, 50), Unit: "ms", N: len(compile)},
			{Case: "instantiate_", Value: percentile(instantiate, 50), Unit: "µs", N: len(instantiate)},
			{Case: "memory_", Value: float64(memory) / 1024, Unit: "KiB", N: 1},
			{Case: "guest_call_200B_", Value: t[0], Unit: "µs", N: 200 * b.rounds},
		} {
			r.Case += string(k)
			b.add(r)
		}
	}
	return nil
}

// cachedStart measures the start of a host with the machine code on disk: verified, mapped,
// instantiated, and called once.
func (b *pluginBench) cachedStart() error {
	for _, k := range languages {
		if !b.has(k) {
			continue
		}
		var took []float64
		for r := range max(1, b.rounds/4) + 1 {
			begin := time.Now()
			err := b.loaded(k, guestManifest(), false, func(p *wasm.Plugin) error {
				if err := callPlugin(b.ctx, p, textEvent(200))(); err != nil {
					return err
				}
				if r > 0 { // the first may compile
					took = append(took, time.Since(begin).Seconds()*1000)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		b.add(result{Case: "cached_start_" + string(k), N: len(took), Value: percentile(took, 50), Unit: "ms", Note: "to the first answer"})
	}
	return nil
}

// compareWithNative compares Go code that is compiled to WASM and called as a plugin with the same code as a
// native program.
func (b *pluginBench) compareWithNative() error {
	if !b.has(guests.Go) {
		return nil
	}
	text := textEvent(100_000).Text
	pcm := make([]byte, 2*2*16000)
	for i := range pcm {
		pcm[i] = byte(i * i >> 7)
	}
	gray := pcm[:0:0]
	for i := range 640 * 480 {
		gray = append(gray, byte(i*i>>9))
	}
	return b.loaded(guests.Go, guestManifest(), false, func(p *wasm.Plugin) error {
		for _, w := range []struct {
			name, note string
			event      abi.Event
			native     func() uint64
		}{
			{"tokenise", "100 KB of text", abi.Event{Kind: "text", Lang: "work", Text: text}, func() uint64 { _, h := work.Tokenise(text); return h }},
			{"voice", "2 s of sound", abi.Event{Kind: "audio", PCM: pcm, Rate: 16000}, func() uint64 { return uint64(work.Voice(pcm)) }},
			{"hash", "640×480", abi.Event{Kind: "photo", Gray: gray, Width: 640, Height: 480}, func() uint64 { return work.Hash(gray, 640, 480) }},
		} {
			w.event.ID, w.event.At = "bench/1/1", 1_800_000_000_000
			want := w.native()
			t, err := inTurns(b.rounds, 4, func() error {
				out, _, err := p.Extract(b.ctx, &w.event)
				if err == nil && len(out.Annotations) != 1 {
					return errOther
				}
				return err
			}, func() error {
				if w.native() != want {
					return errOther
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			b.add(result{Case: "work_" + w.name, N: 4 * b.rounds, Value: t[0], Unit: "µs", Note: w.note + ", as a whole call"}.beside("native Go", thousandth(t[1]), false))
		}
		return nil
	})
}
