package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/bits"
	"reflect"
	"slices"
	"time"

	"golang.org/x/image/draw"

	"github.com/locket-dev/locket/cmd/locket-bench/pictures"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins"
	"github.com/locket-dev/locket/wasm/plugins/scene"
)

func runScene(ctx context.Context, f *frame) error {
	families := f.Int("families", 6, "how many layouts of pages, and how many rooms, of three scenes each")
	frames := f.Int("frames", 200, "how many frames are timed")
	seed := f.Uint64("seed", 1, "of what is drawn")
	explain := f.Bool("explain", false, "print each pair that was taken wrongly; not to be tuned on")
	if !f.parsed() || f.NArg() > 0 || *families < 1 || *frames < 1 {
		return f.usage("takes flags only, --families and --frames numbers above 0")
	}
	scenes, err := pictures.Scenes(*families, *seed)
	if err != nil {
		return err
	}
	told := func(string, ...any) {}
	if *explain {
		told = func(format string, a ...any) { fmt.Fprintf(f.stdout, format+"\n", a...) }
	}
	host, plugin, err := builtin(ctx, "scene")
	if err != nil {
		return err
	}
	defer host.Close(ctx)
	results, err := compareScenes(ctx, scenes, plugin.Manifest().Side, told)
	if err != nil {
		return err
	}
	times, err := timeScenes(ctx, plugin, scenes, *frames)
	if err != nil {
		return err
	}
	return f.print(append(results, times...), nil)
}

// alike reports whether the second picture shows the same scene as the first.
type alike func(a, b *image.Gray) (bool, error)

// extractorAlike gives the extractor one photo and then the other, scaled as its manifest asks, and
// checks whether it refuses the second as a duplicate.
func extractorAlike(side int) alike {
	x := scene.New()
	return func(a, b *image.Gray) (bool, error) {
		var first, second abi.Output
		ev := photo("bench/1/1", a, nil)
		wasm.Scale(ev, side)
		if err := x.Extract(ev, &first); err != nil {
			return false, err
		}
		ev = photo("bench/1/2", b, first.State)
		wasm.Scale(ev, side)
		if err := x.Extract(ev, &second); err != nil {
			return false, err
		}
		return slices.ContainsFunc(second.Refusals, func(r abi.Refusal) bool { return r.Kind == "duplicate" }), nil
	}
}

// photo is a picture as the daemon decodes it.
func photo(id string, g *image.Gray, state []byte) *abi.Event {
	return &abi.Event{ID: id, Kind: "photo", At: 1_800_000_000_000, Width: g.Rect.Dx(), Height: g.Rect.Dy(), Gray: g.Pix, State: state}
}

// averageAlike is the obvious baseline: hashes of 8×8 cells. Each bit says whether a cell is
// brighter than the mean, and at most 5 bits may differ.
func averageAlike(a, b *image.Gray) (bool, error) {
	const most = 5
	return bits.OnesCount64(averageHash(a)^averageHash(b)) <= most, nil
}

func averageHash(g *image.Gray) (h uint64) {
	small := image.NewGray(image.Rect(0, 0, 8, 8))
	draw.BiLinear.Scale(small, small.Rect, g, g.Rect, draw.Src, nil)
	sum := 0
	for _, p := range small.Pix {
		sum += int(p)
	}
	for i, p := range small.Pix {
		if int(p)*64 > sum {
			h |= 1 << i
		}
	}
	return h
}

// compareScenes compares each scene with its variants, which are duplicates, and with pictures that
// are not: variants of the others of its family, and the other scenes.
func compareScenes(ctx context.Context, scenes []pictures.Scene, side int, told func(string, ...any)) ([]result, error) {
	of := map[string]alike{"locket": extractorAlike(side), "average": averageAlike}
	counts := map[string]*frameCount{}
	byVariant, byKind := map[string]*frameCount{}, map[string]*frameCount{}
	count := func(a, b *image.Gray, truth bool, what, kind string, variant string) error {
		for name, f := range of {
			got, err := f(a, b)
			if err != nil {
				return err
			}
			at(counts, name).add(got, truth)
			if name != "locket" {
				continue
			}
			at(byVariant, variant).add(got, truth)
			at(byKind, kind).add(got, truth)
			if got != truth {
				told("%s: %s", map[bool]string{true: "missed", false: "wrongly a duplicate"}[truth], what)
			}
		}
		return ctx.Err()
	}
	pictured := 0
	for _, v := range pictures.Variants() {
		seen := make([]*image.Gray, len(scenes))
		for i, s := range scenes {
			seen[i] = v.Make(s.Gray)
			pictured++
		}
		for i, s := range scenes {
			for j, o := range scenes {
				kind := ""
				switch {
				case i == j:
				case s.Family == o.Family:
					kind = o.Family[:4]
				default:
					continue
				}
				if err := count(s.Gray, seen[j], i == j, s.Name+" and "+o.Name+", "+v.Name, kind, v.Name); err != nil {
					return nil, err
				}
			}
		}
	}
	for i, s := range scenes {
		for j, o := range scenes {
			if i != j && s.Family != o.Family {
				if err := count(s.Gray, o.Gray, false, s.Name+" and "+o.Name, "others", "others"); err != nil {
					return nil, err
				}
			}
		}
	}
	l, p := counts["locket"], counts["average"]
	var out []result
	add := func(name string, n int, value float64, unit, note string) *result {
		out = append(out, result{Suite: "scene", Case: name, N: n, Value: thousandth(value), Unit: unit, Note: note})
		return &out[len(out)-1]
	}
	pairs := fmt.Sprintf("%d pairs that are, %d that are not", l.hit+l.missed, l.alarm+l.quiet)
	r := add("duplicate_precision", l.hit+l.alarm, l.precision(), "of 1", pairs)
	*r = r.beside("average hash", thousandth(p.precision()), true)
	r = add("duplicate_recall", l.hit+l.missed, l.recall(), "of 1", fmt.Sprintf("%d pictures generated from %d scenes", pictured, len(scenes)))
	*r = r.beside("average hash", thousandth(p.recall()), true)
	for _, v := range pictures.Variants() {
		c := byVariant[v.Name]
		add("recall_"+v.Name, c.hit+c.missed, c.recall(), "of 1", fmt.Sprintf("%d of %d hard negatives taken for duplicates", c.alarm, c.alarm+c.quiet))
	}
	for _, k := range []struct{ kind, name string }{{"page", "wrong_pages_of_one_layout"}, {"room", "wrong_frames_of_one_room"}, {"others", "wrong_other_scenes"}} {
		c := at(byKind, k.kind)
		add(k.name, c.alarm+c.quiet, 100*c.alarms(), "%", "taken for duplicates")
	}
	return out, nil
}

// timeScenes times frames of 640×480 with a full state, in Go and in the plugin that runs in a
// node. Decoding is not included.
func timeScenes(ctx context.Context, plugin *wasm.Plugin, scenes []pictures.Scene, frames int) ([]result, error) {
	variants := pictures.Variants()
	// One pass each, over the same frames, so that each has its processor time.
	pass := func(extract func(*abi.Event) (*abi.Output, error)) (times []float64, answers []abi.Output, cpu float64, err error) {
		var state []byte
		for f := range frames {
			ev := photo(fmt.Sprint("bench/1/", f), variants[f%len(variants)].Make(scenes[f%len(scenes)].Gray), state)
			begin, before := time.Now(), processor()
			out, err := extract(ev)
			if err != nil {
				return nil, nil, 0, err
			}
			times, cpu = append(times, time.Since(begin).Seconds()*1000), cpu+processor()-before
			answers, state = append(answers, *out), out.State
		}
		return times, answers, 1000 * cpu / float64(frames), nil
	}
	x := scene.New()
	native, want, nativeCPU, err := pass(func(ev *abi.Event) (*abi.Output, error) {
		var out abi.Output
		wasm.Scale(ev, plugin.Manifest().Side)
		return &out, x.Extract(ev, &out)
	})
	if err != nil {
		return nil, err
	}
	inWasm, got, wasmCPU, err := pass(func(ev *abi.Event) (*abi.Output, error) {
		out, _, err := plugin.Extract(ctx, ev)
		return &out, err
	})
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(got, want) {
		return nil, errors.New("the plugin answers otherwise than the package that it was built from")
	}
	line := func(name string, v []float64, cpu float64, note string) result {
		return result{Suite: "scene", Case: name, N: frames, Value: thousandth(percentile(v, 50)), Unit: "ms",
			Note: fmt.Sprintf("p99 %.3f, %.3f ms of processor each; %s", percentile(v, 99), cpu, note)}
	}
	return []result{
		line("frame_640x480", inWasm, wasmCPU, "the plugin, with its picture scaled, its event encoded and its answer checked").beside("native Go", thousandth(percentile(native, 50)), false),
		line("frame_640x480_native", native, nativeCPU, "package scene alone"),
	}, nil
}

// builtin loads a built-in plugin as a node does.
func builtin(ctx context.Context, id string) (*wasm.Host, *wasm.Plugin, error) {
	all, err := plugins.All()
	if err != nil {
		return nil, nil, err
	}
	for _, b := range all {
		if b.Manifest.ID != id {
			continue
		}
		host, err := wasm.NewHost(ctx, wasm.Options{Idle: -1})
		if err != nil {
			return nil, nil, err
		}
		p, err := host.LoadFrom(ctx, b.Open, b.Manifest, nil)
		if err != nil {
			return nil, nil, errors.Join(err, host.Close(ctx))
		}
		return host, p, nil
	}
	return nil, nil, fmt.Errorf("there is no built-in plugin %q", id)
}
