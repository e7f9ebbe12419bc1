package plugins_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// TestRemovePluginIsAllOrNothing: where the list of devices can't be read, the plugin
// stays as it was, and can be removed once the list can be read.
func TestRemovePluginIsAllOrNothing(t *testing.T) {
	const id = "suite/silent"
	var home string
	n := nodetest.New(t, func(c *config.Config) { home = c.Home })
	ctx := t.Context()
	if _, err := n.InstallPlugin(ctx, plugintest.Silent("1.0.0", "")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "devices.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.RemovePlugin(ctx, id); err == nil {
		t.Error("removed, and its states of which device?")
	}
	if p, err := n.Plugin(ctx, id); err != nil || p.State != serve.PluginRuns {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := n.RemovePlugin(ctx, id); err != nil {
		t.Error(err)
	}
	if _, err := n.Plugin(ctx, id); err == nil {
		t.Error("the plugin is still there after it was removed")
	}
}
