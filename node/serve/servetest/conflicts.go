package servetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Conflicts implements serve.Settler: what was said beside what is pinned.
func (n *Node) Conflicts(ctx context.Context) ([]serve.Conflict, error) {
	done, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return n.conflicts(), nil
}

func (n *Node) conflicts() []serve.Conflict {
	out := []serve.Conflict{}
	side := func(m *memory.Memory) serve.ConflictSide {
		return serve.ConflictSide{Memory: m.ID, Value: m.Slot.Value, Text: m.Text, Here: true, By: m.Source, Rank: m.Rank, At: m.Learnt}
	}
	for i := range n.s.Memories {
		for j := range n.s.Memories {
			p, m := &n.s.Memories[i], &n.s.Memories[j]
			if p.State != memory.Active || m.State != memory.Active || p.Slot == nil || p.Slot.Many || !p.Pinned || m.Pinned || p.Candidate.Group() != m.Candidate.Group() {
				continue
			}
			out = append(out, serve.Conflict{ID: p.ID.String()[:7] + m.ID.String()[:6], Kind: "pin", Slot: &memory.Slot{Subject: p.Slot.Subject, Attribute: p.Slot.Attribute},
				Sides: []serve.ConflictSide{side(p), side(m)}, Why: "it is pinned: no machine changes it"})
		}
	}
	return out
}

// Settle implements serve.Settler.
func (n *Node) Settle(ctx context.Context, id string, s serve.SettleRequest) (serve.Settled, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.Settled{}, err
	}
	defer done()
	for _, c := range n.conflicts() {
		if len(id) < 4 || !strings.HasPrefix(c.ID, id) {
			continue
		}
		if (s.Choose != 0) == (s.Write != "") || s.Choose < 0 || s.Choose > 2 || s.Both {
			return serve.Settled{}, fmt.Errorf("%w: choose or write", memory.ErrInvalid)
		}
		first := uint64(len(n.s.Changes))
		cand := memory.Candidate{}
		for i, side := range c.Sides {
			m, err := n.find(side.Memory)
			if err != nil {
				return serve.Settled{}, err
			}
			if i == 0 {
				cand = m.Candidate
			}
			if s.Choose != i+1 {
				m.State, m.Pinned = memory.Superseded, false
				n.change(memory.Change{Memory: m.ID, Verdict: memory.Update, Old: m.Text, By: memory.Source{Plugin: "person"}, Rank: memory.RankPerson, Reason: "settled"})
			}
		}
		if s.Write != "" {
			slot := *cand.Slot
			cand.Text = strings.ReplaceAll(cand.Text, slot.Value, s.Write)
			slot.Value = s.Write
			cand.Slot = &slot
			n.reconcile(cand, memory.RankPerson, "")
		}
		return serve.Settled{ID: c.ID, Changes: append([]memory.Change{}, n.s.Changes[first:]...)}, nil
	}
	return serve.Settled{}, fmt.Errorf("conflict %q: %w", id, memory.ErrNotFound)
}

// conflicts: what a machine says against what is pinned is shown, and settled
// once.
func conflicts(t *testing.T, c *serve.Client, _ Subject) {
	ctx := t.Context()
	for _, tt := range []struct {
		subject string
		s       serve.SettleRequest
		want    string
	}{{"favourite colour", serve.SettleRequest{Choose: 1}, "blue"}, {"favourite fruit", serve.SettleRequest{Choose: 2}, "green"}, {"favourite number", serve.SettleRequest{Write: "seven"}, "seven"}} {
		say := func(value string) memory.ID {
			res, err := c.Add(ctx, serve.AddRequest{Text: "My " + tt.subject + " is " + value + "."})
			if err != nil || len(res.Changes) == 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			return res.Changes[0].Memory
		}
		if _, err := c.Pin(ctx, say("blue").String(), true); err != nil {
			t.Fatal(err)
		}
		if open, err := c.Conflicts(ctx); err != nil || len(open) != 0 {
			t.Fatalf("%+v, %v", open, err)
		}
		say("green")
		open, err := c.Conflicts(ctx)
		if err != nil || len(open) != 1 || len(open[0].Sides) != 2 || open[0].Kind != "pin" || open[0].Why == "" {
			t.Fatalf("%s: %+v, %v", tt.subject, open, err)
		}
		if a, b := open[0].Sides[0], open[0].Sides[1]; !strings.Contains(a.Text, "blue") || !strings.Contains(b.Text, "green") || !a.Here || a.At.IsZero() {
			t.Fatalf("%s: %+v", tt.subject, open)
		}
		_, err = c.Settle(ctx, open[0].ID, serve.SettleRequest{Choose: 3})
		want(t, err, memory.ErrInvalid)
		_, err = c.Settle(ctx, "zzzzzzzz", tt.s)
		want(t, err, memory.ErrNotFound)
		done, err := c.Settle(ctx, open[0].ID[:8], tt.s)
		if err != nil || done.ID != open[0].ID || len(done.Changes) == 0 {
			t.Fatalf("%s: %+v, %v", tt.subject, done, err)
		}
		_, err = c.Settle(ctx, open[0].ID, tt.s)
		want(t, err, memory.ErrNotFound)
		list, err := c.List(ctx, serve.ListQuery{})
		var held []string
		for _, m := range list.Memories {
			if strings.Contains(m.Text, tt.subject) {
				held = append(held, m.Slot.Value)
			}
		}
		if err != nil || len(held) != 1 || held[0] != tt.want {
			t.Errorf("%s: %q is held, want %s", tt.subject, held, tt.want)
		}
	}
}
