package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/node/serve/servetest"
)

// TestRemovePluginWhole: where the list of devices can't be read, the plugin
// stays as it was, to be removed once it can.
func TestRemovePluginWhole(t *testing.T) {
	const id = "suite/silent"
	n := newNode(t, nil)
	ctx := t.Context()
	if _, err := n.InstallPlugin(ctx, servetest.Silent("1.0.0", "")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(n.cfg.Home, deviceFile)
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.RemovePlugin(ctx, id); err == nil {
		t.Error("removed, and its states of which device?")
	}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	p, err := o.plugin(id)
	if err != nil || p.run == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := n.RemovePlugin(ctx, id); err != nil {
		t.Error(err)
	}
	if _, err := o.plugin(id); err == nil {
		t.Error("it is there still")
	}
}
