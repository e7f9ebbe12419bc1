package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"slices"
	"strings"
)

// plotRuns draws p99 over the number of lines, both on logarithmic scales, with one line per
// engine. The file's desc contains the data as CSV.
func plotRuns(path string, runs []recallRun) error {
	const w, h, left, bottom, top, right = 720.0, 420.0, 70.0, 50.0, 30.0, 110.0
	var engines []string
	lowN, highN, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, r := range runs {
		if !slices.Contains(engines, r.Engine) {
			engines = append(engines, r.Engine)
		}
		lowN, highN = min(lowN, math.Log10(float64(r.N))), max(highN, math.Log10(float64(r.N)))
		low, high = min(low, math.Log10(r.P99)), max(high, math.Log10(r.P99))
	}
	low, high = math.Floor(low), math.Ceil(high)
	if highN == lowN {
		highN++
	}
	x := func(n int) float64 {
		return left + (math.Log10(float64(n))-lowN)/(highN-lowN)*(w-left-right)
	}
	y := func(ms float64) float64 { return h - bottom - (math.Log10(ms)-low)/(high-low)*(h-bottom-top) }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`+"\n", w, h)
	b.WriteString("<title>p99 of a query, one core</title>\n<desc>engine,lines,recall_at_10,p50_ms,p99_ms,queries_per_s,build_s,open_s,bytes,idle_mb,hot_mb\n")
	for _, r := range runs {
		fmt.Fprintf(&b, "%s,%d,%g,%g,%g,%g,%g,%g,%d,%g,%g\n", html.EscapeString(r.Engine), r.N, r.Recall, r.P50, r.P99, r.QPS, r.Build, r.Open, r.Bytes, r.Idle, r.Hot)
	}
	fmt.Fprintf(&b, "</desc>\n<rect width=\"%g\" height=\"%g\" fill=\"white\"/>\n", w, h)
	for p := low; p <= high; p++ {
		fmt.Fprintf(&b, `<path d="M%g %gH%g" stroke="#ddd"/><text x="%g" y="%g" text-anchor="end">%g ms</text>`+"\n", left, y(math.Pow(10, p)), w-right, left-6, y(math.Pow(10, p))+4, math.Pow(10, p))
	}
	for p := math.Ceil(lowN); p <= highN; p++ {
		n := int(math.Pow(10, p))
		fmt.Fprintf(&b, `<path d="M%g %gV%g" stroke="#ddd"/><text x="%g" y="%g" text-anchor="middle">%d</text>`+"\n", x(n), top, h-bottom, x(n), h-bottom+18, n)
	}
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">lines indexed</text>`+"\n", left+(w-left-right)/2, h-12)
	colours := []string{"#0b6e4f", "#b23a48", "#6c4ab6", "#d08c00", "#3a7ca5", "#555"}
	for i, e := range engines {
		var d, dots strings.Builder
		var lastX, lastY float64
		for _, r := range runs {
			if r.Engine != e {
				continue
			}
			lastX, lastY = x(r.N), y(r.P99)
			fmt.Fprintf(&d, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[d.Len() == 0], lastX, lastY)
			fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, lastX, lastY, colours[i%len(colours)])
		}
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>%s<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n",
			d.String(), colours[i%len(colours)], dots.String(), lastX+8, lastY+4, colours[i%len(colours)], html.EscapeString(e))
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
