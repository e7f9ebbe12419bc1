package language

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
)

// Merge is several memories that say the same, with one wording for all.
type Merge struct {
	Of     []memory.Memory
	Text   string
	Reason string
	Source memory.Source
}

var merged = &llm.Schema{Name: "merges", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["merges"],"properties":{"merges":{"type":"array","items":{` +
	`"type":"object","additionalProperties":false,"required":["ids","text","reason"],"properties":{"ids":{"type":"array","items":{"type":"integer"}},"text":{"type":"string"},"reason":{"type":"string"}}}}}}`)}

// maxMerge is the greatest number of memories in one merge.
const maxMerge = 6

// Merges asks a model for memories that say the same. It accepts a wording only
// if that says everything that each of them says, by the same rule as the
// node's: [consolidate.Covers]. If the model uses a number that it was not
// given, it is told so. A merge that loses something is left out.
func (p *Pipeline) Merges(ctx context.Context, plugin string, ms []memory.Memory) ([]Merge, error) {
	type shownMemory struct {
		ID     int    `json:"id"`
		Text   string `json:"text"`
		Learnt string `json:"learnt"`
	}
	var data struct {
		Memories []shownMemory `json:"memories"`
	}
	for i := range ms {
		found, err := p.Secret(ctx, ms[i].Text)
		if err != nil {
			return nil, err
		}
		if !found {
			data.Memories = append(data.Memories, shownMemory{i + 1, ms[i].Text, dateOf(ms[i].Learnt)})
		}
	}
	given := map[int]bool{}
	for _, m := range data.Memories {
		given[m.ID] = true
	}
	if len(given) < 2 {
		return nil, nil
	}
	var out []Merge
	r := llm.Request{System: prompts.Text(prompts.Merge), Messages: llm.FromUser(llm.JSON(data)), Schema: merged}
	_, err := p.Model.AskJSON(ctx, r, func(raw []byte) error {
		var answer struct {
			Merges []struct {
				IDs    []int  `json:"ids"`
				Text   string `json:"text"`
				Reason string `json:"reason"`
			} `json:"merges"`
		}
		if err := decode(raw, &answer); err != nil {
			return err
		}
		out = nil
		taken := map[int]bool{}
		for i, m := range answer.Merges {
			if len(m.IDs) < 2 || len(m.IDs) > maxMerge {
				return fmt.Errorf("merges[%d].ids: %d of them, want 2 to %d", i, len(m.IDs), maxMerge)
			}
			g := Merge{Text: strings.Join(strings.Fields(m.Text), " "), Reason: strings.Join(strings.Fields(m.Reason), " ")}
			for _, id := range m.IDs {
				if !given[id] {
					return fmt.Errorf("merges[%d].ids: %d was not given", i, id)
				}
				if taken[id] {
					return fmt.Errorf("merges[%d].ids: %d is in two merges", i, id)
				}
				taken[id] = true
				g.Of = append(g.Of, ms[id-1])
			}
			if g.covers() {
				out = append(out, g)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	clean := out[:0]
	for _, m := range out {
		found, err := p.Secret(ctx, m.Text)
		if err != nil {
			return nil, err
		}
		if !found {
			m.Source = memory.Source{Plugin: plugin, Version: prompts.Merge, Model: p.Model.Name()}
			clean = append(clean, m)
		}
	}
	return clean, nil
}

func (m *Merge) covers() bool {
	for i := range m.Of {
		if consolidate.Covers(m.Text, &m.Of[i]) != nil {
			return false
		}
	}
	return true
}
