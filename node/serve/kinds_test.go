package serve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// steps: the steps of a procedure can be inserted, revised, removed and moved,
// and each change is in the history. What can't be done names the place, and
// changes nothing.
func steps(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	r := plain("How to make coffee")
	r.Type, r.Fields.Procedural = memory.Procedural, &memory.ProceduralFields{EntryType: "guide", Steps: []string{"Grind", "Boil"}}
	id := added(t, c, r).String()
	m, err := c.Update(ctx, id, serve.UpdateRequest{Steps: []memory.StepEdit{
		{Op: memory.StepInsert, At: 2, Text: "Rinse the filter"}, {Op: memory.StepRevise, At: 3, Text: "Pour"}, {Op: memory.StepMove, At: 2, To: 1}}})
	if err != nil || !slices.Equal(m.Fields.Procedural.Steps, []string{"Rinse the filter", "Grind", "Pour"}) {
		t.Fatalf("%+v, %v", m.Fields.Procedural, err)
	}
	h, err := c.History(ctx, id)
	if err != nil || len(h) != 2 || !strings.Contains(h[1].Reason, "step 2 inserted, step 3 revised, step 2 moved to 1") {
		t.Fatalf("history %+v, %v", h, err)
	}
	_, err = c.Update(ctx, id, serve.UpdateRequest{Steps: []memory.StepEdit{{Op: memory.StepRemove, At: 1}, {Op: memory.StepRemove, At: 3}}})
	want(t, err, memory.ErrInvalid)
	if err == nil || !strings.Contains(err.Error(), "steps[1].at") {
		t.Errorf("the place is not named: %v", err)
	}
	if m, err = c.Get(ctx, id); err != nil || len(m.Fields.Procedural.Steps) != 3 {
		t.Errorf("half done: %+v, %v", m.Fields.Procedural, err)
	}
	other := added(t, c, plain("Ann likes tea")).String()
	for _, bad := range []serve.UpdateRequest{
		{Steps: []memory.StepEdit{{Op: memory.StepRemove, At: 1}}},
		{Fields: &memory.Fields{Procedural: &memory.ProceduralFields{Steps: []string{"x"}}}},
		{Steps: []memory.StepEdit{{Op: memory.StepRemove, At: 1}}, Fields: &memory.Fields{}},
	} {
		_, err = c.Update(ctx, other, bad)
		want(t, err, memory.ErrInvalid)
	}
}

// blocks: a core block gains and loses lines, and is rewritten when it is full:
// nothing that was in it is lost.
func blocks(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	r := plain("Ann is a nurse.")
	r.Type, r.Fields.Core = memory.Core, &memory.CoreFields{Block: "human", Limit: 100}
	id := added(t, c, r).String()
	text := func(s string) *string { return &s }
	for _, step := range []struct {
		do   serve.UpdateRequest
		want string
	}{
		{serve.UpdateRequest{Append: text("She sings in a choir.")}, "Ann is a nurse.\nShe sings in a choir."},
		{serve.UpdateRequest{Append: text("she sings in a choir")}, "Ann is a nurse.\nShe sings in a choir."},
		{serve.UpdateRequest{Replace: &serve.Replacement{Old: "a nurse", With: "a doctor"}}, "Ann is a doctor.\nShe sings in a choir."},
		{serve.UpdateRequest{Append: text("She is allergic to walnuts, and to bees.")}, "Ann is a doctor.\nShe sings in a choir.\nShe is allergic to walnuts, and to bees."},
		{serve.UpdateRequest{Append: text("She cycles to work.")}, "She sings in a choir.\nShe is allergic to walnuts, and to bees.\nShe cycles to work."},
	} {
		m, err := c.Update(ctx, id, step.do)
		if err != nil || m.Text != step.want {
			t.Fatalf("%q, %v; want %q", m.Text, err, step.want)
		}
	}
	page, err := c.List(ctx, serve.ListQuery{Type: memory.Semantic})
	if err != nil || len(page.Memories) != 1 || page.Memories[0].Text != "Ann is a doctor." {
		t.Fatalf("moved: %+v, %v", page.Memories, err)
	}
	h, err := c.History(ctx, id)
	last := h[len(h)-1]
	if err != nil || !strings.HasPrefix(last.Old, "Ann is a doctor.\n") || !strings.HasSuffix(last.Old, "cycles to work.") {
		t.Fatalf("the old text is not in the history: %+v, %v", last, err)
	}
	for _, bad := range []serve.UpdateRequest{
		{Append: text("")}, {Append: text("x\ny")}, {Replace: &serve.Replacement{Old: "zebra"}},
		{Append: text(strings.Repeat("x", 95))}, {Append: text("x"), Text: text("y")},
	} {
		_, err = c.Update(ctx, id, bad)
		want(t, err, memory.ErrInvalid)
	}
	other := added(t, c, plain("Bo owes Ann a lunch")).String()
	_, err = c.Update(ctx, other, serve.UpdateRequest{Append: text("x")})
	want(t, err, memory.ErrInvalid)
}
