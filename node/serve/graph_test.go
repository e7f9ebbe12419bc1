package serve_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node/serve"
)

// ties returns a fact that connects two entities.
func ties(subject, predicate, object string) serve.AddRequest {
	r := plain(subject + " " + predicate + " " + object)
	r.Fields = memory.Fields{Semantic: &memory.SemanticFields{Subject: subject, Predicate: predicate, Object: object}}
	return r
}

// graphs draws the graph in each format, has names merged and split, and undoes
// both.
func graphs(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	added(t, c, ties("Elizabeth", "sister of", "Tom Weaver"))
	added(t, c, ties("Liz", "owns", "the red boat"))
	added(t, c, ties("Karl", "lives in", "Porto"))
	draw := func(q atlas.Query) atlas.View {
		t.Helper()
		v, err := c.Graph(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := draw(atlas.Query{}); len(v.Entities) != 6 || len(v.Relations) != 3 || v.Relations[0].Learnt.IsZero() {
		t.Fatalf("%+v", v)
	}
	if v := draw(atlas.Query{Entity: "LIZ"}); len(v.Entities) != 2 || len(v.Meant) != 1 {
		t.Fatalf("around Liz: %+v", v)
	}
	if v := draw(atlas.Query{Text: "who lives in Porto"}); len(v.Relations) != 1 || v.Relations[0].Subject != "karl" || v.Relations[0].Score == 0 {
		t.Fatalf("by words: %+v", v)
	}
	merged, err := c.MergeEntities(ctx, "Elizabeth", "Liz")
	if err != nil {
		t.Fatal(err)
	}
	v := draw(atlas.Query{Entity: "liz"})
	if len(v.Entities) != 3 || v.Entities[0].ID != "elizabeth" || len(v.Entities[0].Aliases) != 1 || v.Entities[0].Aliases[0] != "Liz" {
		t.Fatalf("merged: %+v", v)
	}
	split, err := c.SplitEntities(ctx, "Liz", "Elizabeth")
	if err != nil {
		t.Fatal(err)
	}
	if v := draw(atlas.Query{}); len(v.Entities) != 6 {
		t.Fatalf("split: %+v", v)
	}
	a, err := c.Entities(ctx)
	if err != nil || len(a.Decisions) != 2 || !a.Decisions[0].Same || a.Decisions[1].Same {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, d := range []struct {
		id   memory.ID
		want int // entities afterwards
	}{{split.ID, 5}, {merged.ID, 6}} {
		if _, err := c.UndecideEntities(ctx, d.id.String()); err != nil {
			t.Fatal(err)
		}
		if v := draw(atlas.Query{}); len(v.Entities) != d.want {
			t.Fatalf("undone: %d entities, want %d", len(v.Entities), d.want)
		}
	}
	_, err = c.UndecideEntities(ctx, added(t, c, plain("No decision at all")).String())
	want(t, err, memory.ErrInvalid)
	for _, bad := range [][2]string{{"", "Liz"}, {"Liz", "LIZ"}, {"?!", "Liz"}, {strings.Repeat("x", 500), "Liz"}} {
		_, err := c.MergeEntities(ctx, bad[0], bad[1])
		want(t, err, memory.ErrInvalid)
	}
	if _, err := c.Graph(ctx, atlas.Query{Entity: "Liz", Text: "boat"}); err == nil {
		t.Fatal("both at once are taken")
	}
	for f, has := range map[atlas.Format]string{atlas.GraphML: "<graphml", atlas.JSONLD: "@context", atlas.JSON: `"entities":[`} {
		var b bytes.Buffer
		if err := c.WriteGraph(ctx, atlas.Query{}, f, &b); err != nil || !strings.Contains(b.String(), has) || !strings.Contains(b.String(), "Tom Weaver") {
			t.Fatalf("%s: %v\n%s", f, err, b.String())
		}
	}
	if err := c.WriteGraph(ctx, atlas.Query{}, "dot", &bytes.Buffer{}); err == nil {
		t.Fatal("a format that is none is taken")
	}
	if _, err := c.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = c.Graph(ctx, atlas.Query{})
	want(t, err, memory.ErrLocked)
}
