package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// gather asks a node for everything that resulted from a day, in the form that the day's judge
// reads. The vault must be open.
func gather(ctx context.Context, n *node.Node, d *day.Day) (day.Result, error) {
	r := day.Result{Answers: map[string][]day.Hit{}}
	if err := gatherMemories(ctx, n, &r); err != nil {
		return r, fmt.Errorf("gather memories: %w", err)
	}
	if err := gatherUtterances(ctx, n, &r); err != nil {
		return r, fmt.Errorf("gather utterances: %w", err)
	}
	refusals, err := n.Refusals(ctx, 10_000)
	if err != nil {
		return r, fmt.Errorf("gather refusals: %w", err)
	}
	for _, f := range refusals {
		r.Refusals = append(r.Refusals, day.Said{Event: f.Event, Text: f.Reason})
		switch f.Kind {
		case "gap":
			r.Gaps = append(r.Gaps, f.Event)
		case "duplicate":
			for _, w := range strings.Fields(f.Reason) {
				if id, err := memory.ParseEventID(w); err == nil {
					r.Alike = append(r.Alike, [2]memory.EventID{id, f.Event})
				}
			}
		}
	}
	for _, q := range d.Expect.Questions {
		res, err := n.Search(ctx, serve.SearchRequest{Query: q.Question, K: day.Depth})
		if err != nil {
			return r, fmt.Errorf("ask %q: %w", q.Question, err)
		}
		r.Answers[q.Question] = []day.Hit{}
		for _, h := range res.Hits {
			hit := day.Hit{Text: h.Text + "\n" + h.Said}
			for _, e := range h.Evidence {
				hit.Events = append(hit.Events, e.Event)
				hit.Text += "\n" + e.Excerpt
			}
			r.Answers[q.Question] = append(r.Answers[q.Question], hit)
		}
	}
	return r, nil
}

func gatherMemories(ctx context.Context, n *node.Node, r *day.Result) error {
	q := serve.ListQuery{State: serve.AnyState, Limit: serve.MaxPage}
	for {
		page, err := n.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Memories {
			m := &page.Memories[i]
			r.Memories = append(r.Memories, found(m))
			if m.Type == memory.Vault && m.State == memory.Active {
				s, err := n.Reveal(ctx, m.ID)
				if err != nil {
					return err
				}
				r.Vault = append(r.Vault, day.Opened{Label: m.Text + " " + s.Label, Value: string(s.Secret)})
			}
		}
		if q.Cursor = page.Next; page.Next == "" {
			return nil
		}
	}
}

func found(m *memory.Memory) day.Found {
	f := day.Found{Name: m.ID.String()[:8], Type: m.Type, State: m.State, Text: m.Text, More: append([]string(nil), m.Tags...)}
	if m.Slot != nil {
		f.More = append(f.More, m.Slot.Subject, m.Slot.Attribute, m.Slot.Value)
	}
	if p := m.Fields.Procedural; p != nil {
		f.Steps = p.Steps
		f.More = append(f.More, p.Description)
	}
	if e := m.Fields.Episodic; e != nil {
		f.Started = e.Started
		f.More = append(f.More, e.Details, e.Actor, e.Place, stamp(e.Started))
	}
	if s := m.Fields.Semantic; s != nil {
		f.More = append(f.More, s.Name, s.Details, s.Subject, s.Predicate, s.Object)
	}
	for _, e := range m.Evidence {
		f.Events = append(f.Events, e.Event)
		f.More = append(f.More, e.Excerpt)
	}
	return f
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// gatherUtterances reads the utterances from an export, which has everything.
func gatherUtterances(ctx context.Context, n *node.Node, r *day.Result) error {
	ended := false
	for rec, err := range n.Export(ctx, serve.ExportOptions{}) {
		if err != nil {
			return err
		}
		r.Elsewhere = append(r.Elsewhere, day.Named{Where: "the export", Text: string(rec.Data)})
		switch rec.Kind {
		case archive.KindUtterance:
			u, err := utterance(rec)
			if err != nil {
				return err
			}
			r.Utterances = append(r.Utterances, day.Said{Event: u.Event, Text: u.Text})
		case archive.KindEnd:
			ended = true
		}
	}
	if !ended {
		return errors.New("the export is cut off")
	}
	return nil
}
