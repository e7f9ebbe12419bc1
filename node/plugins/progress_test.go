package plugins_test

import (
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
)

// Opening a home counts the modules that it compiles, and no module that was compiled before.
func TestCompiledModulesAreCounted(t *testing.T) {
	cfg := config.Config{Home: filepath.Join(t.TempDir(), "home"), Wearer: "Maja", Zone: "Europe/Berlin", Disk: config.Disk{Reserve: 1 << 20},
		Plugins: config.Plugins{Disabled: []string{"facts", "plans", "howto", "speech", "secrets", "language"}}}
	cfg.Defaults()
	if _, err := node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	opt := nodetest.Options(t)
	opt.Cache = "" // its own, which is empty
	for _, want := range []int64{1, 0} {
		n, err := node.Open(cfg, opt)
		if err != nil {
			t.Fatal(err)
		}
		var g progress.Gauge
		_, err = n.UnlockAsConfigured(progress.With(t.Context(), &g))
		if done, total := g.Done.Load(), g.Total.Load(); err != nil || done != want || total != want {
			t.Errorf("%d of %d, want %d of %d; %v", done, total, want, want, err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
