package community

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What a crash left of a community that was being joined or left does not affect others.
func TestCrashAffectsNoOtherCommunity(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	space := must[serve.CommunityView](t)(g.ann.Show(ctx, g.id)).ID

	// An earlier version of Locket was killed while it joined, and while it left.
	for _, file := range []string{genesisFile, stampFile} {
		half := g.ann.folder(memory.SpaceID(randomID()))
		if err := os.MkdirAll(half, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(half, file), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := must[[]serve.CommunityHead](t)(g.ann.List(ctx))
	if len(list) != 1 || list[0].ID != space {
		t.Fatalf("listed: %+v", list)
	}
	for _, id := range []string{g.id, g.id[:8], "Gardeners"} {
		must[serve.CommunityView](t)(g.ann.Show(ctx, id))
	}

	// This version was killed while it removed the folder, and joins again.
	if err := os.Rename(g.ann.folder(space), filepath.Join(g.ann.root(), partly+space.String())); err != nil {
		t.Fatal(err)
	}
	if list := must[[]serve.CommunityHead](t)(g.ann.List(ctx)); len(list) != 0 {
		t.Errorf("listed while it is half gone: %+v", list)
	}
	if left, err := filepath.Glob(filepath.Join(g.ann.root(), partly+"*")); err != nil || len(left) != 0 {
		t.Errorf("%v stays, %v", left, err)
	}
	must[serve.CommunityView](t)(g.ann.Join(ctx, g.link, "Gardeners"))
}
