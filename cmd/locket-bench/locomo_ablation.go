package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory/recall"
)

// locomoAblation measures with all signals, and with each signal left out.
func locomoAblation(ctx context.Context, conversations []conversation, w io.Writer, asJSON bool) error {
	base := recall.DefaultWeights()
	var full *locomoResult
	for _, a := range recall.Ablations() {
		weights := base
		a.Change(&weights)
		r, err := measureLocomo(ctx, conversations, []int{10, 25}, func() engine { return newStraight(&weights) })
		if err != nil {
			return err
		}
		if full == nil {
			full = r
		}
		ten, more := r.Recall["all"]["10"], r.Recall["all"]["25"]
		if asJSON {
			line := map[string]any{"suite": "locomo", "case": "without_" + a.Name, "recall": r.Recall}
			if err := json.NewEncoder(w).Encode(line); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-12s @10 %5.1f (%+.1f)  @25 %5.1f (%+.1f)  multi %5.1f open %5.1f\n", a.Name, ten, ten-full.Recall["all"]["10"], more, more-full.Recall["all"]["25"],
			r.Recall["multi_hop"]["10"], r.Recall["open_domain"]["10"])
	}
	return nil
}
