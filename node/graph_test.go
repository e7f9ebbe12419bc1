package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node/serve"
)

// If names are merged, split and merged again within one tick of the clock, the
// last decision counts each time.
func TestLastMergeDecisionCounts(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	moment := time.Now().Add(time.Minute)
	o.engine.Clock().Now = func() time.Time { return moment }
	no := false
	add := func(text string, f *memory.SemanticFields, tags ...string) {
		t.Helper()
		if _, err := n.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Type: memory.Semantic, Tags: tags, Fields: memory.Fields{Semantic: f}}); err != nil {
			t.Fatal(err)
		}
	}
	add("Elizabeth owns the red boat", &memory.SemanticFields{Subject: "Elizabeth", Predicate: "owns", Object: "the red boat"})
	add("Liz works for Philips", &memory.SemanticFields{Subject: "Liz", Predicate: "works for", Object: "Philips"})
	for i := range 6 {
		same := i%2 == 0
		text, f := atlas.Decide("Elizabeth", "Liz", same)
		add(text, f, atlas.TagDecision)
		v, err := n.Graph(ctx, atlas.Query{})
		want := 4
		if same {
			want = 3
		}
		if err != nil || len(v.Entities) != want {
			t.Errorf("%d (%s): %d entities, want %d: %v", i, text, len(v.Entities), want, err)
		}
	}
}
