package node_test

import (
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
)

// A dream of one device is undone on another, and both are as before it.
func TestDreamIsUndoneOnAnotherDevice(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 11), newDevice(t, relay.url, 12)
	a.init()
	now := time.Now().UTC()
	node.Propose(t, a.Node, memory.Semantic, "The boiler is serviced by Hansen every autumn", now.AddDate(0, 0, -3))
	node.Propose(t, a.Node, memory.Semantic, "The boiler is serviced every autumn by Hansen", now.AddDate(0, 0, -2))
	node.Propose(t, a.Node, memory.Semantic, "The van is on level three", now.AddDate(0, 0, -9), "place")
	a.well()
	a.pair(b)
	b.well()
	was := node.Derived(t, a.Node)
	plan, err := a.PlanDream(t.Context())
	if err != nil || len(plan.Steps) != 2 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := a.ApplyDream(t.Context(), plan.ID); err != nil {
		t.Fatal(err)
	}
	a.well()
	b.well()
	if dreamt := node.Derived(t, a.Node); dreamt == was || node.Derived(t, b.Node) != dreamt {
		t.Fatalf("dreamt, and apart:\n%s\n%s", dreamt, node.Derived(t, b.Node))
	}
	if r, err := b.UndoDream(t.Context(), plan.ID, memory.ID{}); err != nil || r.Steps != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	b.well()
	a.well()
	for _, n := range []*node.Node{a.Node, b.Node} {
		if got := node.Derived(t, n); got != was {
			t.Errorf("taken back, and otherwise:\n%s\n%s", was, got)
		}
	}
	if _, err := a.UndoDream(t.Context(), "", memory.ID{}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("taken back twice: %v", err)
	}
}
