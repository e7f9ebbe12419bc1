package rules

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/howto"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
)

var showWeights = flag.Bool("weights", false, "print the weights that TestWorth finds")

// labelledLine is one of our lines, and whether it is worth keeping.
type labelledLine struct {
	text string
	keep float64
	x    []float64
	size int
}

// worthLines returns the lines of a language from which the weights are chosen.
func worthLines(t *testing.T, chinese bool) (all []labelledLine) {
	add := func(text string, keep bool) {
		text, _ = english.Heard(text)
		s, ok := howto.Whole(text)
		if !ok || s.Chinese() != chinese {
			return
		}
		k := 0.0
		if keep {
			k = 1
		}
		if last := s.Toks[len(s.Toks)-1]; last.Kind == 'p' {
			s.Ends = last.S
		}
		talk := discourse.Talk{Ev: &abi.Event{Wearer: "Mei", Text: text}, Now: monday}
		v := noted.ViewOf(&talk, s)
		marks := noted.WorthEn
		if chinese {
			marks = noted.WorthZh
		}
		l := labelledLine{text: text, keep: k, size: len(s.Toks)}
		for i := range marks {
			l.x = append(l.x, marks[i].Found(v))
		}
		all = append(all, l)
	}
	for line := range lines(t, "testdata/worth.txt") {
		add(line[2:], line[0] == '+')
	}
	for _, file := range [...]string{"develop", "natural", "worn", "talk"} {
		for row := range lines(t, "testdata/"+file+".txt") {
			line, want, ok := strings.Cut(row, "\t")
			if !ok || strings.Contains(line, " / ") {
				continue
			}
			if _, said, ok := strings.Cut(line, "Tom: "); ok {
				line = said
			}
			needed, may := false, false
			for _, w := range parseWanted(want) {
				needed, may = needed || !w.optional, may || w.optional
			}
			if needed || !may {
				add(line, needed)
			}
		}
	}
	return all
}

// fit is a logistic regression by plain gradient descent, starting at zero, with a penalty on
// squares; the result is rounded to a tenth, so that the table is the same anywhere.
func fit(all []labelledLine) []float64 {
	w := make([]float64, len(all[0].x))
	for range 1500 {
		g := make([]float64, len(w))
		for i := range all {
			d := predicted(w, all[i].x) - all[i].keep
			for k, x := range all[i].x {
				g[k] += d * x
			}
		}
		for k := range w {
			w[k] -= 0.5 * (g[k]/float64(len(all)) + 0.004*w[k]*noted.Yes(k > 0))
		}
	}
	for k := range w {
		w[k] = math.Round(10*w[k]) / 10
	}
	return w
}

func predicted(w, x []float64) float64 {
	sum := 0.0
	for k := range x {
		sum += w[k] * x[k]
	}
	return 1 / (1 + math.Exp(-sum))
}

// TestWorth chooses the weights again, and reports how well they classify lines from which they
// were not chosen, a fifth at a time, compared with using only the length.
func TestWorth(t *testing.T) {
	for name, marks := range map[string][]noted.Mark{"English": noted.WorthEn, "Chinese": noted.WorthZh} {
		all := worthLines(t, name == "Chinese")
		var p, size []float64
		var keep []float64
		for fold := range 5 {
			var train, test []labelledLine
			for i := range all {
				if i%5 == fold {
					test = append(test, all[i])
				} else {
					train = append(train, all[i])
				}
			}
			w := fit(train)
			for i := range test {
				p, size, keep = append(p, predicted(w, test[i].x)), append(size, float64(test[i].size)), append(keep, test[i].keep)
			}
		}
		for _, at := range [...]float64{0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95} {
			precision, recall := above(p, keep, at)
			t.Logf("%s, %d lines, left out, above %.2f: precision %.3f, recall %.3f", name, len(all), at, precision, recall)
			if at == noted.WorthNoting && (precision < 0.9 || recall < 0.5) {
				t.Errorf("%s: want a precision of 0.9 at a recall of 0.5", name)
			}
		}
		for _, at := range [...]float64{5, 7, 9, 11, 13} {
			precision, recall := above(size, keep, at)
			t.Logf("%s, length alone, %v words or more: precision %.3f, recall %.3f", name, at, precision, recall)
		}
		for k, w := range fit(all) {
			if *showWeights {
				fmt.Printf("%s\t%s\t%.1f\n", name, marks[k].Name, w)
			} else if w != marks[k].Weight {
				t.Errorf("%s, %q: %.1f, and the table has %.1f", name, marks[k].Name, w, marks[k].Weight)
			}
		}
	}
}

func above(p, keep []float64, at float64) (precision, recall float64) {
	hit, made, asked := 0.0, 0.0, 0.0
	for i := range p {
		asked += keep[i]
		if p[i] >= at {
			made++
			hit += keep[i]
		}
	}
	return hit / max(made, 1), hit / max(asked, 1)
}
