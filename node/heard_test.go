package node

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// After a restart the node still reports when a wearable was last heard, and no file has that in
// clear.
func TestLastSeenSurvivesARestart(t *testing.T) {
	n, press, _ := pressing(t)
	press(wire.Button{Gesture: "single"})
	at := pendantOf(t, n).LastSeen
	if at.IsZero() {
		t.Fatal("the pendant has no time at which it was last seen")
	}
	again := func() *Node {
		t.Helper()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		n, err := Open(n.cfg, Options{Cache: compiled})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		return n
	}
	n = again()
	if d := pendantOf(t, n); !d.LastSeen.IsZero() {
		t.Errorf("a locked node knows that it was seen at %v", d.LastSeen)
	}
	err := filepath.WalkDir(n.cfg.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(at.Format("15:04:05.000"))) {
			t.Errorf("%s says when it was seen", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := n.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	if d := pendantOf(t, n); !d.LastSeen.Equal(at) || d.Events != 0 {
		t.Errorf("seen at %v, %d events; want %v and none", d.LastSeen, d.Events, at)
	}
	// A wearable that is removed and added again was not seen.
	if err := n.RemoveDevice(t.Context(), "pendant"); err != nil {
		t.Fatal(err)
	}
	n = again()
	if err := n.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	if _, err := n.AddDevice(t.Context(), "pendant"); err != nil {
		t.Fatal(err)
	}
	if d := pendantOf(t, n); !d.LastSeen.IsZero() {
		t.Errorf("the one before it was seen at %v", d.LastSeen)
	}
}

func pendantOf(t *testing.T, n *Node) serve.Device {
	t.Helper()
	list, err := n.Devices(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}
