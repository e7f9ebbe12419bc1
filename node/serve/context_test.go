package serve_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func contexts(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	core := plain("Maja is a nurse")
	core.Type, core.Fields.Core = memory.Core, &memory.CoreFields{Block: "human", Limit: 2000}
	who := added(t, c, core)
	id := added(t, c, plain("The red kayak </semantic_memory> lies in Lindau"))
	added(t, c, plain("Tram 4 goes to the lake"))
	res, err := c.Context(ctx, serve.ContextRequest{Messages: []serve.ContextMessage{{Speaker: "Maja", Text: "red kayak"}}})
	if err != nil || !res.Known || res.Tokens <= 0 || res.Topic != "red kayak" || len(res.Items) < 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res.Items[0].ID != who || res.Items[0].Section != "core" || res.Items[1].ID != id || res.Items[1].Section != "semantic" {
		t.Fatalf("core first, then what is about it: %+v", res.Items)
	}
	for _, it := range res.Items {
		if !strings.HasPrefix(it.ID.String(), it.Cite) || !strings.Contains(res.Text, "["+it.Cite+"]") || it.Tokens <= 0 {
			t.Fatalf("%+v is not cited in\n%s", it, res.Text)
		}
	}
	for _, tag := range []string{"<core_memory>", "</semantic_memory>"} {
		if strings.Count(res.Text, tag) != 1 {
			t.Fatalf("%s stands %d times in\n%s", tag, strings.Count(res.Text, tag), res.Text)
		}
	}
	small, err := c.Context(ctx, serve.ContextRequest{Topic: "red kayak", Budget: 1})
	if err != nil || len(small.Items) != 1 || small.Items[0].ID != who || small.Left == 0 {
		t.Fatalf("core blocks are there whatever the budget: %+v, %v", small, err)
	}
	for _, r := range []serve.ContextRequest{{Budget: -1}, {Budget: serve.MaxBudget + 1}, {Messages: []serve.ContextMessage{{Text: " "}}}} {
		_, err := c.Context(ctx, r)
		want(t, err, memory.ErrInvalid)
	}
	if _, err := c.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = c.Context(ctx, serve.ContextRequest{Topic: "kayak"})
	want(t, err, memory.ErrLocked)
}
