package query_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// Facts are counted by category and slot, and the facts of a slot are exactly those
// that a list with its filter returns.
func TestFactsBySlot(t *testing.T) {
	n := nodetest.New(t, nil)
	ctx, no := t.Context(), false
	add := func(text string, slot *memory.Slot) {
		t.Helper()
		if _, err := n.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Slot: slot}); err != nil {
			t.Fatal(err)
		}
	}
	add("Anna works at the tram depot.", &memory.Slot{Subject: "anna", Attribute: "employer", Value: "tram depot"})
	add("User is allergic to nuts.", &memory.Slot{Subject: "user", Attribute: "allergy", Value: "nuts", Many: true})
	add("User is allergic to dust.", &memory.Slot{Subject: "user", Attribute: "allergy", Value: "dust", Many: true})
	add("Bread is baked on Fridays.", nil)
	check := func(q serve.FactsQuery, want string) {
		t.Helper()
		got, err := n.Facts(ctx, q)
		got.Categories = nil
		if s := fmt.Sprint(got); err != nil || s != want {
			t.Errorf("%+v: %s, want %s, %v", q, s, want, err)
		}
	}
	check(serve.FactsQuery{}, "{[] [{user allergy 2} {anna employer 1}] 1 false}")
	check(serve.FactsQuery{Limit: 1}, "{[] [{user allergy 2}] 1 true}")
	check(serve.FactsQuery{Category: "work"}, "{[] [{anna employer 1}] 0 false}")
	check(serve.FactsQuery{Category: "nothing"}, "{[] [] 0 false}")
	facts, err := n.Facts(ctx, serve.FactsQuery{Limit: 1})
	if err != nil || !slices.Contains(facts.Categories, serve.CategoryCount{Name: "health", Memories: 2}) || slices.ContainsFunc(facts.Categories, func(c serve.CategoryCount) bool { return c.Memories == 0 }) {
		t.Errorf("%+v, %v", facts, err)
	}
	for text, want := range map[string]int{`{"AND": [{"categories": "health"}, {"subject": "user", "attribute": "allergy"}]}`: 2, `{"subject": {"exists": false}}`: 1, `{"subject": "Anna"}`: 1} {
		var f filter.Filter
		if err := f.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		page, err := n.List(ctx, serve.ListQuery{Type: memory.Semantic, Filters: f, Limit: 10})
		if err != nil || len(page.Memories) != want {
			t.Errorf("%s: %+v, %v", text, page.Memories, err)
		}
	}
}
