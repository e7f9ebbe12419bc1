package apps_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// An app finds the same as the owner finds with a filter that reads each memory: the same
// hits with the same scores. For the app, the index alone decides most of this. It still
// holds after memories were forgotten or became more or less private.
func TestScopedSearchEqualsFilteredSearch(t *testing.T) {
	h := newHome(t)
	ctx := t.Context()
	r := rand.New(rand.NewPCG(1, 2))
	types := []memory.Type{memory.Semantic, memory.Core, memory.Procedural}
	tags := []string{"garden", "work"}
	var ops []serve.Operation
	for i := range 80 {
		a := plain(fmt.Sprintf("Ana counted %d boats on day %d%s", r.IntN(9), i, []string{"", " and the boats were red", " near the boats of the harbour"}[r.IntN(3)]))
		level := memory.Sensitivity(r.IntN(int(memory.Private) + 1))
		a.Sensitivity, a.Type = &level, types[r.IntN(len(types))]
		switch a.Type {
		case memory.Core:
			a.Fields.Core = &memory.CoreFields{Block: "human", Limit: 2000}
		case memory.Procedural:
			a.Fields.Procedural = &memory.ProceduralFields{Steps: []string{"count", "write it down"}}
		}
		if r.IntN(2) == 0 {
			a.Tags = []string{tags[r.IntN(2)]}
		}
		if r.IntN(4) == 0 {
			a.Agent = "cook"
		}
		ops = append(ops, serve.Operation{Add: &a})
	}
	var ids []memory.ID
	res, err := h.Batch(ctx, ops)
	if err != nil || res.Failed > 0 {
		t.Fatalf("%d failed, %v", res.Failed, err)
	}
	for _, one := range res.Results {
		ids = append(ids, one.Added.Changes[0].Memory)
	}
	type asker struct {
		serve.AppRequest
		c *serve.Client
	}
	var askers []asker
	for i := range 8 {
		level := memory.Sensitivity(r.IntN(int(memory.Private) + 1))
		a := serve.AppRequest{Name: fmt.Sprintf("app-%d", i), Can: []serve.Right{serve.RightRead}, Sensitivity: &level, Requests: 10_000, Tokens: 10_000_000}
		for _, typ := range types {
			if r.IntN(2) == 0 || typ == types[i%3] {
				a.Types = append(a.Types, string(typ))
			}
		}
		if i%4 == 1 {
			a.Tags = tags[:1]
		}
		if i%4 == 2 {
			a.Owner.Agent = "cook"
		}
		askers = append(askers, asker{a, h.app(t, a)})
	}
	check := func(when string) {
		t.Helper()
		for _, a := range askers {
			sees := func(m *memory.Memory) bool {
				return m != nil && slices.Contains(a.Types, string(m.Type)) && m.Sensitivity <= *a.Sensitivity &&
					(len(a.Tags) == 0 || slices.Contains(m.Tags, "garden")) && (a.Owner.Agent == "" || m.Owner.Agent == a.Owner.Agent)
			}
			reads := filter.Only(func(it *filter.Item) bool { return sees(it.Memory) })
			for _, q := range []serve.SearchRequest{{Query: "boats", K: 5}, {Query: "red boats on day 7"}, {Query: "boats", K: 100}} {
				got, err := a.c.Search(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				if q.K == 100 { // all of them, so this must be what anybody finds, without what the app does not see
					all, err := h.Search(ctx, q)
					if err != nil {
						t.Fatal(err)
					}
					left := idsOf(all.Hits, func(h *serve.Hit) bool { return sees(h.Memory) })
					if seen := idsOf(got.Hits, nil); len(left) == 0 || !slices.Equal(seen, left) {
						t.Errorf("%s: %s sees %d memories of %d hits, and they show %d", when, a.Name, len(left), len(all.Hits), len(seen))
					}
				}
				q.Filters, q.Sees = reads, reads
				want, err := h.node.Services().Recaller.Search(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Hits) != len(want.Hits) || len(got.Hits) == 0 {
					t.Fatalf("%s: %s finds %d for %q, want %d", when, a.Name, len(got.Hits), q.Query, len(want.Hits))
				}
				for i := range want.Hits {
					if g, w := &got.Hits[i], &want.Hits[i]; g.ID != w.ID || g.Score != w.Score {
						t.Errorf("%s: %s: hit %d for %q is %s %v, want %s %v", when, a.Name, i, q.Query, g.ID, g.Score, w.ID, w.Score)
					}
				}
				if got.Confidence != want.Confidence || got.Known != want.Known {
					t.Errorf("%s: %s: %v %v, want %v %v", when, a.Name, got.Confidence, got.Known, want.Confidence, want.Known)
				}
			}
		}
	}
	check("as they came")
	ops = nil
	for i, id := range ids[:40] {
		switch level := memory.Sensitivity(r.IntN(int(memory.Secret) + 1)); i % 3 {
		case 0:
			ops = append(ops, serve.Operation{ID: id.String(), Delete: true})
		default:
			ops = append(ops, serve.Operation{ID: id.String(), Update: &serve.UpdateRequest{Sensitivity: &level}})
		}
	}
	if res, err := h.Batch(ctx, ops); err != nil || res.Failed > 0 {
		t.Fatalf("%d failed, %v", res.Failed, err)
	}
	check("changed")
}

// idsOf returns the sorted ids of the hits that only accepts.
func idsOf(hits []serve.Hit, only func(*serve.Hit) bool) (ids []string) {
	for i := range hits {
		if only == nil || only(&hits[i]) {
			ids = append(ids, hits[i].ID.String())
		}
	}
	slices.Sort(ids)
	return ids
}
