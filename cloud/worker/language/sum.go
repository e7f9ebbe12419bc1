package language

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
)

// Sum says what a community has in common. Its text is empty if there is
// nothing to say.
type Sum struct {
	Title  string
	Text   string
	Facts  []int // indexes, from 0, of the facts that support the text
	Source memory.Source
}

var summed = &llm.Schema{Name: "community", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["title","summary","facts"],"properties":{` +
	`"title":{"type":"string"},"summary":{"type":"string"},"facts":{"type":"array","items":{"type":"integer"}}}}`)}

// maxTitle is the greatest length of a title, in bytes.
const maxTitle = 80

// SumUp asks the model to summarise a community from facts. A sentence is
// accepted only if it names something of the facts that it cites. Facts with a
// secret are not shown.
func (p *Pipeline) SumUp(ctx context.Context, plugin string, members, facts []string) (Sum, error) {
	type fact struct {
		N    int    `json:"n"`
		Text string `json:"text"`
	}
	var data struct {
		Members []string `json:"members"`
		Facts   []fact   `json:"facts"`
	}
	data.Members = members
	for i, f := range facts {
		found, err := p.Secret(ctx, f)
		if err != nil {
			return Sum{}, err
		}
		if !found {
			data.Facts = append(data.Facts, fact{i + 1, f})
		}
	}
	if len(data.Facts) == 0 {
		return Sum{}, nil
	}
	var out Sum
	_, err := p.Model.AskJSON(ctx, llm.Request{System: prompts.Text(prompts.Community), Messages: llm.FromUser(llm.JSON(data)), Schema: summed}, func(raw []byte) error {
		var answer struct {
			Title   string `json:"title"`
			Summary string `json:"summary"`
			Facts   []int  `json:"facts"`
		}
		if err := decode(raw, &answer); err != nil {
			return err
		}
		out = Sum{Title: strings.Join(strings.Fields(answer.Title), " "), Text: strings.Join(strings.Fields(answer.Summary), " ")}
		if out.Title == "" || len(out.Title) > maxTitle || out.Text == "" || len(out.Text) > MaxSummary {
			return fmt.Errorf("title of %d bytes and summary of %d: want 1 to %d and 1 to %d", len(out.Title), len(out.Text), maxTitle, MaxSummary)
		}
		rests := map[string]bool{}
		for i, n := range answer.Facts {
			if !slices.ContainsFunc(data.Facts, func(f fact) bool { return f.N == n }) {
				return fmt.Errorf("facts[%d]: %d was not given", i, n)
			}
			if !slices.Contains(out.Facts, n-1) && len(out.Facts) < memory.MaxEvidence {
				out.Facts = append(out.Facts, n-1)
			}
			for w := range words(facts[n-1]) {
				rests[w] = true
			}
		}
		carried, all := 0, words(out.Text)
		for w := range all {
			if rests[w] {
				carried++
			}
		}
		if len(out.Facts) == 0 || 3*carried < len(all) {
			return errors.New("the summary is not in the facts that it rests on")
		}
		return nil
	})
	if err != nil {
		return Sum{}, err
	}
	if found, err := p.Secret(ctx, out.Title+"\n"+out.Text); err != nil || found {
		return Sum{}, err
	}
	out.Source = memory.Source{Plugin: plugin, Version: prompts.Community, Model: p.Model.Name()}
	return out, nil
}
