package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/locket-dev/locket/internal/testing/perturb"
	"github.com/locket-dev/locket/memory/recall"
)

// locomoPerturbed asks every question in other ways, and prints what each way
// changes.
func locomoPerturbed(ctx context.Context, conversations []conversation, w io.Writer, asJSON bool) error {
	ways := append([]perturb.Way{{Name: "as it is", Of: func(q string) string { return q }}}, perturb.Ways()...)
	marks := make([]marked, len(ways))
	for i := range conversations {
		h := &heard{newStraight(nil), &conversations[i]}
		if err := h.Feed(ctx, h.talk); err != nil {
			return fmt.Errorf("feed %s: %w", h.talk.Name, err)
		}
		asked := h.talk.Asked
		for j, way := range ways {
			talk := *h.talk
			talk.Asked = slices.Clone(asked)
			for k := range talk.Asked {
				talk.Asked[k].Question = way.Of(talk.Asked[k].Question)
			}
			m, err := (&heard{h.straight, &talk}).mark(ctx, recall.DefaultWeights())
			if err != nil {
				return err
			}
			marks[j].join(m)
		}
		if err := h.Close(); err != nil {
			return err
		}
	}
	for j, way := range ways {
		got, base := perCent(marks[j].sum["all"], marks[j].n["all"]), perCent(marks[0].sum["all"], marks[0].n["all"])
		if asJSON {
			if err := json.NewEncoder(w).Encode(map[string]any{"suite": "locomo", "case": "perturbed", "way": way.Name, "recall": got}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-20s @5 %5.1f  @10 %5.1f (%+.1f)  @25 %5.1f (%+.1f)\n", way.Name, got["5"], got["10"], got["10"]-base["10"], got["25"], got["25"]-base["25"])
	}
	return nil
}
