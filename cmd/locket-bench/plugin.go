package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/guests"
	"github.com/locket-dev/locket/wasm"
)

func runPlugin(ctx context.Context, f *frame) error {
	rounds := f.Int("rounds", 20, "how often each measurement takes its turn")
	lines := f.Int("lines", 2000, "of the node that is searched while a plugin spins; 0: leave this out")
	only := f.String("guests", "c,go,rust,as", "in which languages guests are built; rust by $RUSTC, or the first that has the target")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() || f.NArg() > 0 || *rounds < 1 || *lines < 0 {
		return f.usage("takes flags only, --rounds a number above 0, --lines one from 0")
	}
	kinds, err := guestKinds(*only)
	if err != nil {
		return f.usage("%v", err)
	}
	dir, err := os.MkdirTemp("", "locket-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := pluginBench{ctx: ctx, dir: dir, rounds: *rounds, modules: map[guests.Kind][]byte{}}
	for _, k := range kinds {
		m, err := guests.Build(ctx, k, filepath.Join(dir, "guest "+string(k)))
		if err != nil { // the measurements that need it report it as missing
			fmt.Fprintf(f.stderr, "locket-bench plugin: not measured: %v\n", err)
			b.missing = append(b.missing, result{Case: "error_" + strings.ReplaceAll(string(k), " ", "_"), N: 1, Unit: "missing", Note: err.Error()})
			continue
		}
		b.modules[k] = m
	}
	for _, part := range []func() error{b.calls, b.workers, b.fuel, b.languages, b.compareWithNative, b.recovery, b.cachedStart} {
		if err := part(); err != nil {
			return err
		}
	}
	if *lines > 0 {
		if err := withCache(*cache, func(dir string) error { return b.spin(dir, *lines) }); err != nil {
			return err
		}
	}
	for _, m := range b.missing {
		b.add(m)
	}
	return f.print(b.results, nil)
}

// guestKinds returns the guests in these languages, and the guests that they are compared with.
func guestKinds(names string) (kinds []guests.Kind, err error) {
	of := map[string][]guests.Kind{"c": {guests.C, guests.Echo, guests.ExtismC}, "go": {guests.Go, guests.ExtismGo}, "rust": {guests.Rust}, "as": {guests.AS}}
	for _, n := range strings.Split(names, ",") {
		if of[n] == nil {
			return nil, fmt.Errorf("--guests %s: there are c, go, rust and as", names)
		}
		kinds = append(kinds, of[n]...)
	}
	return kinds, nil
}

// pluginBench collects results. It leaves out what needs a module that could not be built.
type pluginBench struct {
	ctx     context.Context
	dir     string
	rounds  int
	modules map[guests.Kind][]byte
	missing []result
	results []result
}

func (b *pluginBench) add(r result) {
	r.Suite, r.Value = "plugin", thousandth(r.Value)
	b.results = append(b.results, r)
}

func (b *pluginBench) has(kinds ...guests.Kind) bool {
	return !slices.ContainsFunc(kinds, func(k guests.Kind) bool { return b.modules[k] == nil })
}

// sizes of the text of an event.
var sizes = []struct {
	name  string
	bytes int
	calls int // of a round
}{{"200B", 200, 400}, {"20KB", 20_000, 40}, {"200KB", 200_000, 8}}

// inTurns runs a round of each contender in turn, rounds times, and returns the median time of one
// call of each, in µs.
func inTurns(rounds, calls int, contenders ...func() error) ([]float64, error) {
	took := make([][]float64, len(contenders))
	for r := range rounds + 1 {
		for i, f := range contenders {
			begin := time.Now()
			for range calls {
				if err := f(); err != nil {
					return nil, err
				}
			}
			if r > 0 { // the first round warms up
				took[i] = append(took[i], float64(time.Since(begin))/float64(time.Microsecond)/float64(calls))
			}
		}
	}
	out := make([]float64, len(took))
	for i, t := range took {
		out[i] = percentile(t, 50)
	}
	return out, nil
}

// guestManifest returns the manifest of an unsigned guest.
func guestManifest() wasm.Manifest {
	return wasm.Manifest{ID: "bench/guest", Version: "1.0.0", ABI: 1, Title: "Measured", Licence: "Apache-2.0",
		Kinds: []string{"text", "utterance", "audio", "photo"}, Types: []string{"semantic"},
		Limits: wasm.Limits{Fuel: 2_000_000_000, TimeMS: 2000}}
}

// pluginHost returns a host whose workers are this program. The machine code of its plugins is in
// the bench's folder, as in a node.
func (b *pluginBench) pluginHost() (*wasm.Host, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return wasm.NewHost(b.ctx, wasm.Options{Worker: []string{exe, wasm.WorkerName}, Idle: -1, MaxFaults: 1 << 30,
		CacheDir: filepath.Join(b.dir, "code"), CacheKey: make([]byte, 32)})
}

// loaded calls f with a plugin, in this process or in a separate one.
func (b *pluginBench) loaded(k guests.Kind, m wasm.Manifest, apart bool, f func(p *wasm.Plugin) error) (err error) {
	h, err := b.pluginHost()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close(b.ctx)) }()
	load := h.LoadFrom
	if apart {
		load = h.LoadApart
	}
	p, err := load(b.ctx, func() ([]byte, error) { return b.modules[k], nil }, m, nil)
	if err != nil {
		return err
	}
	return f(p)
}
