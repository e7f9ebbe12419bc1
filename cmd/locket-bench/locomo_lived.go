package main

import (
	"context"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// lived is a node that hears a conversation. A wearable publishes the turns over MQTT; the node
// journals them, runs them through the plugins and commits them. It is asked like by any caller.
type lived struct {
	*life
	cache string     // of compiled plugins
	model config.LLM // the model that answers; none without a URL
	turns map[memory.EventID]turn
	kept  float64
	now   time.Time
}

func newLived(cache string, model config.LLM) *lived {
	return &lived{life: &life{}, cache: cache, model: model, turns: map[memory.EventID]turn{}}
}

// spacing is the time between two turns of a session. Only the first turn has a date.
const spacing = 10 * time.Second

func (e *lived) Feed(ctx context.Context, c *conversation) (err error) {
	if e.life, err = newLifeWith(ctx, e.cache, "User", func(c *config.Config) { c.LLM = e.model }); err != nil {
		return err
	}
	var events []day.Event
	for _, s := range c.Sessions {
		for i, t := range s.Turns {
			text := t.Text
			if t.Caption != "" {
				text += " " + t.Caption
			}
			at := s.At.Add(time.Duration(i) * spacing)
			ev := said("talk", len(events)+1, memory.Event{At: at, Zone: "UTC", Text: text, Speaker: t.Speaker})
			e.turns[ev.ID] = t
			events = append(events, ev)
			if after := at.Add(24 * time.Hour); after.After(e.now) {
				e.now = after
			}
		}
	}
	if err := e.happen(ctx, "talk", events); err != nil {
		return err
	}
	return e.count(ctx)
}

// count computes the share of turns that a memory quotes.
func (e *lived) count(ctx context.Context) error {
	all, err := e.memories(ctx)
	if err != nil {
		return err
	}
	quoted := map[memory.EventID]bool{}
	for _, m := range all {
		for _, ev := range m.Evidence {
			quoted[ev.Event] = true
		}
	}
	e.kept = float64(len(quoted)) / float64(max(1, len(e.turns)))
	return nil
}

func (e *lived) Ask(ctx context.Context, question string, kinds []recall.Kind, k int) ([]answer, error) {
	r := serve.SearchRequest{Query: question, K: k, At: e.now}
	if len(kinds) == 1 {
		r.Only = map[recall.Kind]string{recall.Utterance: "utterances", recall.Memory: "memories"}[kinds[0]]
	}
	res, err := e.node.Search(ctx, r)
	if err != nil {
		return nil, err
	}
	out := make([]answer, len(res.Hits))
	for i, h := range res.Hits {
		out[i].text = h.Text
		if len(h.Evidence) > 0 {
			out[i].turn = e.turns[h.Evidence[0].Event].ID
		}
	}
	return out, nil
}

func (e *lived) Within(ctx context.Context, question string, budget int) ([]answer, string, error) {
	res, err := e.node.Context(ctx, serve.ContextRequest{Messages: []serve.ContextMessage{{Text: question}}, Budget: budget, At: e.now})
	if err != nil {
		return nil, "", err
	}
	out := make([]answer, len(res.Items))
	for i, it := range res.Items {
		out[i].text = it.Text
		if len(it.Evidence) > 0 {
			out[i].turn = e.turns[it.Evidence[0].Event].ID
		}
	}
	return out, res.Text, nil
}

func (e *lived) Kept() float64 { return e.kept }
