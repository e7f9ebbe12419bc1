package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins"
)

// sizeOf returns the length of a line in words. Two Chinese characters count as one word.
func sizeOf(l *labelled.Line) int {
	words, han, inside := 0, 0, false
	for _, r := range l.Text {
		switch {
		case r >= 0x2e80:
			han++
			inside = false
		case r == ' ':
			inside = false
		case !inside:
			words++
			inside = true
		}
	}
	return 2*words + han
}

// byLength is a control. It measures how well the lines with something to remember are picked by
// making memories from them, compared with picking the same number of the longest lines.
func byLength(rated []ratedLine) []result {
	var holds, kept []bool
	var sizes []int
	n := 0
	for _, r := range rated {
		if r.Line.Either {
			continue
		}
		holds, kept, sizes = append(holds, r.Line.None == ""), append(kept, len(r.made) > 0), append(sizes, sizeOf(r.Line))
		if len(r.made) > 0 {
			n++
		}
	}
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	long := make([]bool, len(sizes))
	for _, i := range order[:n] {
		long[i] = true
	}
	ours, control := picked(holds, kept), picked(holds, long)
	var out []result
	for _, c := range []struct {
		name        string
		value, peer float64
	}{{"line_precision", ours.precision(), control.precision()}, {"line_recall", ours.recall(), control.recall()}, {"line_f1", ours.f1(), control.f1()}} {
		out = append(out, result{Suite: "extract", Case: c.name, N: len(holds), Value: c.value, Unit: "%"}.beside("length", c.peer, true))
	}
	return out
}

// picked counts the lines that were picked, and those with something to remember.
func picked(holds, taken []bool) (c count) {
	for i := range holds {
		if holds[i] {
			c.labels++
		}
		if taken[i] {
			c.made++
		}
		if holds[i] && taken[i] {
			c.found++
			c.right++
		}
	}
	return c
}

// lineCost measures the time of a line in the plugins that make memories from it: the median of the
// lines, each the best of three.
func lineCost(ctx context.Context, cache string, lines []labelled.Line) (r result, err error) {
	list, err := plugins.All()
	if err != nil {
		return r, err
	}
	key, err := wasm.CacheKey(cache + ".key")
	if err != nil {
		return r, err
	}
	h, err := wasm.NewHost(ctx, wasm.Options{CacheDir: cache, CacheKey: key})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, h.Close(ctx)) }()
	took := make([]time.Duration, len(lines))
	for _, b := range list {
		if id := b.Manifest.ID; id != "facts" && id != "plans" && id != "howto" {
			continue
		}
		p, err := h.LoadFrom(ctx, b.Open, b.Manifest, nil)
		if err != nil {
			return r, err
		}
		for i, l := range lines {
			e := &abi.Event{ID: fmt.Sprintf("bench/1/%d", i+1), Kind: "text", At: l.At.UnixMilli(), Zone: l.Zone, Speaker: l.Speaker, Wearer: labelled.Wearer, Text: l.Text}
			var best time.Duration
			for n := range 3 {
				_, u, err := p.Extract(ctx, e)
				if err != nil {
					return r, fmt.Errorf("%s: %w", l.ID, err)
				}
				if n == 0 || u.Time < best {
					best = u.Time
				}
			}
			took[i] += best
		}
	}
	slices.Sort(took)
	return result{Suite: "extract", Case: "line_ms", N: len(lines), Value: thousandth(float64(took[len(took)/2].Microseconds()) / 1000), Unit: "ms", Note: "facts, plans and howto together, the middle line"}, nil
}
