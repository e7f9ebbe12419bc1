package node

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// What a filter finds is erased as one order: if the node is killed when some of
// it is gone, it erases the rest when it is opened again, and nothing else.
func TestKilledEraseGoesOn(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	cfg, err := flowing(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	n, err := openFlowing(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	const memories = 400 // eight transactions
	var as []memory.Assertion
	for i := range memories + 1 {
		c := memory.Candidate{Type: memory.Semantic, Text: fmt.Sprintf("Shelf %d is full", i), Tags: []string{"bob"}, Confidence: 1, Source: memory.Source{Plugin: "worker/read"}}
		if i < memories {
			c.Tags[0] = "ann"
		}
		as = append(as, memory.Assertion{Memory: memory.ID{1, byte(i >> 8), byte(i)}, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
	}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	err = o.sharing.TakeClaims(t.Context(), as, nil)
	release()
	if err != nil {
		t.Fatal(err)
	}
	list := func(n *Node) []memory.ID {
		t.Helper()
		page, err := n.Services().Reader.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: serve.MaxPage})
		if err != nil {
			t.Fatal(err)
		}
		var ids []memory.ID
		for i := range page.Memories {
			ids = append(ids, page.Memories[i].ID)
		}
		return ids
	}
	ids := list(n)
	if len(ids) != memories+1 {
		t.Fatalf("%d memories", len(ids))
	}
	const ann = "tags = ann"
	f, err := filter.Parse(ann, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	// The first memories that the filter finds are erased first.
	of, err := n.Services().Reader.List(t.Context(), serve.ListQuery{Filters: f, State: serve.AnyState, Limit: 1})
	if err != nil || len(of.Memories) != 1 {
		t.Fatal(of, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	killRevert(t, reverting{Home: home, Line: of.Memories[0].ID, Erase: ann})
	if n, err = openFlowing(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	if left := list(n); len(left) != 1 || left[0] != as[memories].Memory || !slices.Contains(ids, left[0]) {
		t.Errorf("%d memories are left: %v", len(left), left[:min(3, len(left))])
	}
}
