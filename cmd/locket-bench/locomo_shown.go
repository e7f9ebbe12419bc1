package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/locket-dev/locket/memory/recall"
)

// shown counts what a person sees of ten hits for each question that has evidence.
type shown struct {
	questions, evidence int
	hits                [2]struct{ lines, evidence, found int } // all ten, and without the minor ones
}

// locomoShown prints how many of ten hits are not minor, which are those that a person is shown,
// and how much of the evidence is among them, compared with all ten.
func locomoShown(ctx context.Context, conversations []conversation, w io.Writer, asJSON bool) error {
	var s shown
	for i := range conversations {
		if err := s.addQuestions(ctx, &conversations[i]); err != nil {
			return err
		}
	}
	for k, name := range [...]string{"all", "without_minor"} {
		h := &s.hits[k]
		lines, share, found := round(float64(h.lines)/float64(s.questions)), round(100*float64(h.evidence)/float64(s.evidence)), round(100*float64(h.found)/float64(s.questions))
		if asJSON {
			if err := json.NewEncoder(w).Encode(map[string]any{"suite": "locomo", "case": "shown", "hits": name, "lines": lines, "evidence_percent": share, "found_percent": found}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-14s %5.1f lines, %5.1f %% of the evidence, some of it to %5.1f %% of %d questions\n", name, lines, share, found, s.questions)
	}
	return nil
}

// addQuestions adds a conversation's own questions.
func (s *shown) addQuestions(ctx context.Context, c *conversation) error {
	e := newStraight(nil)
	if err := e.Feed(ctx, c); err != nil {
		return fmt.Errorf("feed %s: %w", c.Name, err)
	}
	defer e.Close()
	for _, q := range c.Asked {
		if categories[q.Category] == "adversarial" || len(q.Evidence) == 0 {
			continue
		}
		r, err := e.index.Search(ctx, recall.Query{Text: q.Question, Now: e.now, K: foundWithin, Holds: e.hasPhrase})
		if err != nil {
			return fmt.Errorf("ask %s: %w", c.Name, err)
		}
		s.questions, s.evidence = s.questions+1, s.evidence+len(q.Evidence)
		for k := range s.hits {
			there := 0
			for _, h := range r.Hits {
				if k == 1 && h.Minor {
					continue
				}
				s.hits[k].lines++
				if slices.Contains(q.Evidence, e.turns[h.ID].ID) {
					there++
				}
			}
			if s.hits[k].evidence += there; there > 0 {
				s.hits[k].found++
			}
		}
	}
	return nil
}
