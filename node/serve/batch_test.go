package serve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// batches checks operations that are done together, and filters that choose
// among what they made.
func batches(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	kept := added(t, c, plain("Tram 4 goes to the lake"))
	gone := added(t, c, plain("Rain was heavy"))
	yes, text, empty := true, "Tram 5 goes to the lake", " "
	bike := plain("The bike is blue")
	bike.Agent, bike.Metadata = "helper", memory.Metadata{"project": "apollo"}
	meal := plain("Ann cooked dinner")
	meal.Tags = []string{"kitchen"}
	res, err := c.Batch(ctx, []serve.Operation{
		{Add: &bike}, {Add: &meal}, {Update: &serve.UpdateRequest{Text: &text}, ID: kept.String()[:12]},
		{Update: &serve.UpdateRequest{Text: &empty}, ID: kept.String()}, {Delete: true, ID: gone.String()},
		{Pin: &yes, ID: kept.String()}, {Delete: true, ID: gone.String()},
	})
	if err != nil || len(res.Results) != 7 || res.Failed != 2 {
		t.Fatalf("batch: %+v, %v", res, err)
	}
	if r := res.Results[5]; r.Memory == nil || !r.Memory.Pinned || r.Memory.Text != text {
		t.Fatalf("pin after update: %+v", r)
	}
	if p := res.Results[3].Problem; p == nil || p.Field != "text" {
		t.Fatalf("an empty text: %+v", res.Results[3])
	}
	if p := res.Results[6].Problem; p == nil || !strings.HasSuffix(p.Type, "not-found") {
		t.Fatalf("what was erased before: %+v", res.Results[6])
	}
	secret := plain("The Wi-Fi password is maple-TREE-9921.")
	res, err = c.Batch(ctx, []serve.Operation{{Add: &secret}})
	if err != nil || len(res.Results) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if p := res.Results[0].Problem; p == nil || !errors.Is(p, serve.ErrSecret) || !errors.Is(p, memory.ErrInvalid) || errors.Is(p, memory.ErrNotFound) {
		t.Fatalf("a secret: %+v", p)
	}
	for _, bad := range [][]serve.Operation{nil, {{}}, {{Delete: true}}, {{Add: &bike, ID: "x"}}, {{Add: &bike, Delete: true}}, make([]serve.Operation, serve.MaxBatch+1)} {
		if _, err := c.Batch(ctx, bad); err == nil {
			t.Fatalf("a batch of %d such operations was taken: %+v", len(bad), bad[:min(len(bad), 1)])
		}
	}

	for line, want := range map[string]int{
		"tags = kitchen": 1, "metadata.project = apollo and agent = helper": 1, "not tags exists": 2, "pinned = true or tags = kitchen": 2,
		"text icontains LAKE": 1, "type = core": 0,
	} {
		f, err := filter.Parse(line, nil)
		if err != nil {
			t.Fatal(err)
		}
		page, err := c.List(ctx, serve.ListQuery{Filters: f})
		if err != nil || len(page.Memories) != want {
			t.Fatalf("list where %s: %d memories, %v, want %d", line, len(page.Memories), err, want)
		}
	}
	f, err := filter.Parse("metadata.project = apollo", nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Search(ctx, serve.SearchRequest{Query: "the bike, the dinner, the lake", Filters: f})
	if err != nil || len(found.Hits) != 1 || found.Hits[0].Text != bike.Text {
		t.Fatalf("search with a filter: %+v, %v", found.Hits, err)
	}

	list, err := c.Categories(ctx)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, n := range list {
		counts[n.Name] = n.Memories
	}
	if counts["food"] != 1 || counts[category.Misc] == 0 {
		t.Fatalf("categories: %v", counts)
	}
}
