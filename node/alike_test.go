package node

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// The same photo on two devices is stored once at each of two relays. If one
// device forgets it, it stays at both for the other; when both have forgotten
// it, it is removed from both.
func TestEqualPhotosAtTwoRelays(t *testing.T) {
	primary, mirror := newWorld(t), newWorld(t)
	ctx := t.Context()
	one, two := primary.settings("one"), primary.settings("two")
	phrase, err := Init(one, InitOptions{KeyFile: true})
	if err != nil {
		t.Fatal(err)
	}
	a := primary.open(one, 0)
	primary.sync(a)
	if _, err := Recover(ctx, two, JoinOptions{InitOptions: InitOptions{KeyFile: true}, Relay: two.Sync.Relay}, phrase); err != nil {
		t.Fatal(err)
	}
	b := primary.open(two, 0)
	primary.sync(b)
	for _, n := range []*Node{a, b} {
		if _, err := n.AddRelay(ctx, mirror.url); err != nil {
			t.Fatal(err)
		}
	}
	all := func() {
		t.Helper()
		for range 2 {
			primary.sync(a)
			primary.sync(b)
		}
	}
	lie := func(want int, when string) {
		t.Helper()
		for name, w := range map[string]*world{"primary": primary, "mirror": mirror} {
			found, err := filepath.Glob(filepath.Join(w.dir, "blobs", "*", "*"))
			if err != nil || len(found) != want {
				t.Errorf("%s: the %s has %d blobs, want %d; %v", when, name, len(found), want, err)
			}
		}
	}
	picture := strings.Repeat("plum", 10_000)
	mine := photograph(t, a, picture)
	theirs := photograph(t, b, picture) // before it has heard of the other photo
	all()
	if mine == theirs {
		t.Fatal("one memory: nothing is tried")
	}
	lie(1, "taken by two")
	forget := func(n *Node, id memory.ID) {
		t.Helper()
		if err := n.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
		all()
	}
	forget(a, mine)
	lie(1, "forgotten by one")
	if m, err := a.Media(ctx, theirs); err != nil {
		t.Error(err)
	} else if err := m.Body.Close(); err != nil {
		t.Error(err)
	}
	forget(a, theirs)
	lie(0, "forgotten by both")
}
