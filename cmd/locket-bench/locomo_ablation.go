package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory/recall"
)

// ablation is a change to the weights that removes one signal.
type ablation struct {
	name   string
	change func(*recall.Weights)
}

// ablations lists them; the first removes nothing.
func ablations() []ablation {
	return []ablation{
		{"nothing", func(*recall.Weights) {}},
		{"context", func(w *recall.Weights) { w.Context = [4]float64{} }},
		{"session", func(w *recall.Weights) { w.Session, w.Heard = 0, 0 }},
		{"covered", func(w *recall.Weights) { w.Covered = 0 }},
		{"several", func(w *recall.Weights) { w.Several = 0 }},
		{"speaker", func(w *recall.Weights) { w.Speaker, w.Theirs = 0, 0 }},
		{"question", func(w *recall.Weights) { w.Question = 0 }},
		{"answer", func(w *recall.Weights) { w.Answer = 0 }},
		{"string", func(w *recall.Weights) { w.String = 0 }},
		{"lexicon", func(w *recall.Weights) { w.Lexicon, w.Near = 0, 0 }},
		{"time", func(w *recall.Weights) { w.Time, w.Handle = 0, 0 }},
		{"when", func(w *recall.Weights) { w.When = 0 }},
		{"where", func(w *recall.Weights) { w.Where = 0 }},
		{"number", func(w *recall.Weights) { w.Number = 0 }},
		{"graph", func(w *recall.Weights) { w.Graph, w.Led = 0, 0 }},
		{"length", func(w *recall.Weights) { w.Length = 0 }},
		{"memories counting less", func(w *recall.Weights) { w.Derived = 0 }},
	}
}

// locomoAblation measures with all signals, and with each signal left out.
func locomoAblation(ctx context.Context, conversations []conversation, w io.Writer, asJSON bool) error {
	base := recall.DefaultWeights()
	var full *locomoResult
	for _, a := range ablations() {
		weights := base
		a.change(&weights)
		r, err := measureLocomo(ctx, conversations, []int{10, 25}, func() engine { return newStraight(&weights) })
		if err != nil {
			return err
		}
		if full == nil {
			full = r
		}
		ten, more := r.Recall["all"]["10"], r.Recall["all"]["25"]
		if asJSON {
			line := map[string]any{"suite": "locomo", "case": "without_" + a.name, "recall": r.Recall}
			if err := json.NewEncoder(w).Encode(line); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-12s @10 %5.1f (%+.1f)  @25 %5.1f (%+.1f)  multi %5.1f open %5.1f\n", a.name, ten, ten-full.Recall["all"]["10"], more, more-full.Recall["all"]["25"],
			r.Recall["multi_hop"]["10"], r.Recall["open_domain"]["10"])
	}
	return nil
}
