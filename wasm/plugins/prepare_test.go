package plugins

import (
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/internal/progress"
)

// Several plugins share a module, which is counted once it is compiled.
func TestPrepareCountsModules(t *testing.T) {
	var g progress.Gauge
	if err := Prepare(progress.With(t.Context(), &g), filepath.Join(t.TempDir(), "ready")); err != nil {
		t.Fatal(err)
	}
	if done, total := g.Done.Load(), g.Total.Load(); done != 3 || total != 3 {
		t.Errorf("%d of %d modules, want 3", done, total)
	}
}
