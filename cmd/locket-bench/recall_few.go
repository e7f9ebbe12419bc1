package main

import (
	"context"
	"errors"
	"strings"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
	"github.com/locket-dev/locket/node/serve"
)

// fewCount counts the results for the homes of one language.
type fewCount struct{ asked, first, known, none, wrong int }

// recallFew adds a dozen lines to a new home, as on the first evening, and asks. It measures how
// often the right memory comes first, how often the answer then counts as known, and how often it
// does although no line answers.
func recallFew(ctx context.Context, cache string) ([]result, error) {
	homes, err := labelled.FewLines()
	if err != nil {
		return nil, err
	}
	counts := map[string]*fewCount{"en": {}, "zh": {}}
	for i := range homes {
		if err := fewHome(ctx, cache, &homes[i], counts[homes[i].Lang]); err != nil {
			return nil, err
		}
	}
	var out []result
	for _, lang := range []string{"en", "zh"} {
		c := counts[lang]
		add := func(name string, v, n int) {
			out = append(out, result{Suite: "recall", Case: "few_" + name + "_" + lang, N: n, Value: round(100 * float64(v) / float64(n)), Unit: "%"})
		}
		add("at_1", c.first, c.asked)
		add("known", c.known, c.asked)
		add("known_without_answer", c.wrong, c.none)
	}
	return out, nil
}

func fewHome(ctx context.Context, cache string, h *labelled.Few, c *fewCount) (err error) {
	l, err := newLife(ctx, cache, "User")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for _, line := range h.Lines {
		if _, err := l.node.Add(ctx, serve.AddRequest{Text: line, Keep: true}); err != nil {
			return err
		}
	}
	for _, a := range h.Ask {
		r, err := l.node.Search(ctx, serve.SearchRequest{Query: a.Question})
		if err != nil {
			return err
		}
		c.asked++
		if len(r.Hits) > 0 && strings.Contains(strings.ToLower(r.Hits[0].Text+r.Hits[0].Said), strings.ToLower(a.Has)) {
			c.first++
		}
		if r.Known {
			c.known++
		}
	}
	for _, q := range h.None {
		r, err := l.node.Search(ctx, serve.SearchRequest{Query: q})
		if err != nil {
			return err
		}
		c.none++
		if r.Known {
			c.wrong++
		}
	}
	return nil
}
