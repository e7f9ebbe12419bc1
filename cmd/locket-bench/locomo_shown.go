package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/locket-dev/locket/memory/recall"
)

// locomoShown prints how many of ten hits a person is shown, which are those that are not minor, and how much of
// the evidence is among them: beside all ten.
func locomoShown(ctx context.Context, conversations []conversation, w io.Writer, asJSON bool) error {
	var shown [2]struct{ lines, evidence, found int } // all ten, and without the minor ones
	questions, evidence := 0, 0
	for i := range conversations {
		c := &conversations[i]
		e := newStraight(nil)
		if err := e.Feed(ctx, c); err != nil {
			return fmt.Errorf("feed %s: %w", c.Name, err)
		}
		defer e.Close()
		for _, q := range c.Asked {
			if categories[q.Category] == "adversarial" || len(q.Evidence) == 0 {
				continue
			}
			r, err := e.index.Search(ctx, recall.Query{Text: q.Question, Now: e.now, K: foundWithin, Holds: e.holds})
			if err != nil {
				return fmt.Errorf("ask %s: %w", c.Name, err)
			}
			questions, evidence = questions+1, evidence+len(q.Evidence)
			for k := range shown {
				there := 0
				for _, h := range r.Hits {
					if k == 1 && h.Minor {
						continue
					}
					shown[k].lines++
					if slices.Contains(q.Evidence, e.turns[h.ID].ID) {
						there++
					}
				}
				if shown[k].evidence += there; there > 0 {
					shown[k].found++
				}
			}
		}
	}
	for k, name := range [...]string{"all", "without_minor"} {
		s := &shown[k]
		lines, share, found := round(float64(s.lines)/float64(questions)), round(100*float64(s.evidence)/float64(evidence)), round(100*float64(s.found)/float64(questions))
		if asJSON {
			if err := json.NewEncoder(w).Encode(map[string]any{"suite": "locomo", "case": "shown", "hits": name, "lines": lines, "evidence_percent": share, "found_percent": found}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-14s %5.1f lines, %5.1f %% of the evidence, some of it to %5.1f %% of %d questions\n", name, lines, share, found, questions)
	}
	return nil
}
