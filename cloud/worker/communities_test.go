package worker

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
)

// circle adds facts about a circle of friends, as the owner's device does.
func (o *owner) circle() {
	people := []string{"Ben", "Mia", "Tom", "Lea"}
	for i, p := range people {
		for _, q := range people[:i] {
			text := p + " is a friend of " + q
			o.knows(o.line("Maja", text), memory.RankDevice, &memory.SemanticFields{Subject: p, Predicate: "friend of", Object: q}, text)
		}
	}
}

// arrived waits until the worker has received a memory.
func arrived(t *testing.T, w *Worker, id memory.ID) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	w.mu.Lock()
	spaces := slices.Collect(maps.Values(w.spaces))
	w.mu.Unlock()
	for {
		for _, s := range spaces {
			ms, err := s.remembered(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(ms, func(m memory.Memory) bool { return m.ID == id }) {
				return
			}
		}
		if !wait.For(ctx, 5*time.Millisecond) {
			t.Fatalf("%v did not come", id)
		}
	}
}

// Without a model, communities are summarised by their facts, and the worker reports that it has no
// model.
func TestCommunitiesByRules(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	o.circle()
	home := joined(t, o, relay, wordGrant)
	var later atomic.Int64
	w, _, _ := run(t, Config{Home: home, Engines: Engines{Speech: "none", Sight: "none"}, Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	m := o.until(func(m *memory.Memory) bool { return slices.Contains(m.Tags, atlas.TagCommunity) })
	if !strings.Contains(m.Text, "is a friend of") || len(m.Entities) != 4 || m.Source.Version != "rules" || m.Rank != memory.RankCloud || len(m.Links) == 0 {
		t.Errorf("%+v", m)
	}
	o.accepted()
	a, err := atlas.Draw(t.Context(), o.all(), atlas.Options{Wearer: "Maja"})
	if err != nil {
		t.Fatal(err)
	}
	if c := a.Communities(); len(c) != 1 || c[0].Memory != m.ID || c[0].Title != a.Name(c[0].ID)+" and others" {
		t.Errorf("%+v", c)
	}
	// The next day there is one more fact. A summary that is based on other facts replaces the
	// first one, and names all of its facts, so that it is forgotten with any of them.
	var zoe memory.ID
	for _, p := range []string{"Ben", "Mia", "Tom", "Lea"} {
		text := "Zoe is a friend of " + p
		zoe = o.knows(o.line("Maja", text), memory.RankDevice, &memory.SemanticFields{Subject: "Zoe", Predicate: "friend of", Object: p}, text)
	}
	arrived(t, w, zoe) // otherwise the next day's summary might be based on the part that came in time
	later.Store(int64(24 * time.Hour))
	o.line("Maja", "And so on")
	next := o.until(func(m *memory.Memory) bool {
		return slices.Contains(m.Tags, atlas.TagCommunity) && m.State == memory.Active && strings.Contains(m.Text, "Zoe")
	})
	if next.ID == m.ID || !slices.Contains(next.Links, memory.Link{Relation: "derived_from", To: zoe.String()}) || len(next.Links) != len(m.Links)+4 {
		t.Errorf("%+v", next)
	}
	o.until(func(was *memory.Memory) bool {
		return was.ID == m.ID && was.State == memory.Archived && was.Into == next.ID
	})
	o.accepted()
	if f := w.EngineStates(); len(f) != 1 || f[0].Present || !strings.Contains(f[0].Need, "left to the node's rules") {
		t.Errorf("%+v", f)
	}
}

// A model words the summaries, and anything beyond the facts is refused.
func TestCommunitiesByModel(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	o.circle()
	s := llmtest.New(t, llmtest.Options{})
	said := 0
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		switch {
		case strings.Contains(r.System, "You say in a few words"):
			if said++; said == 1 {
				return `{"title":"Spies","summary":"A ring of dangerous foreign agents plotting in Vienna.","facts":[1]}`
			}
			return `{"title":"Four friends","summary":"Ben, Mia and Tom are friends.","facts":[1,2,3]}`
		case strings.Contains(r.System, "You decide"):
			return `{"managers":[],"reason":"nothing"}`
		case strings.Contains(r.System, "You tidy"):
			return `{"merges":[]}`
		}
		return `{"candidates":[]}`
	}))
	home := joined(t, o, relay, wordGrant)
	run(t, Config{Home: home, Engines: modelled(s)})
	m := o.until(func(m *memory.Memory) bool { return slices.Contains(m.Tags, atlas.TagCommunity) })
	if m.Text != "Ben, Mia and Tom are friends." || m.Fields.Semantic.Name != "Four friends" || m.Source.Version != "community.v1" || len(m.Evidence) != 3 {
		t.Errorf("%+v", m)
	}
	o.accepted()
}
