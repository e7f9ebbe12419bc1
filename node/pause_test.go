package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// A pause ends at its time also where that can't be written down: what wearables
// send after it is not dropped. One that was begun at that moment stays.
func TestPauseEnds(t *testing.T) {
	n := initNode(t, nil, InitOptions{KeyFile: true})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.paused.watch(nil) // it is ended by hand
	if _, err := n.Pause(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	n.endPause()
	if !n.intake.Paused() {
		t.Error("it has ended before its time")
	}
	if _, err := n.Pause(t.Context(), time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(n.cfg.Home, pauseFile)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	n.endPause()
	if n.intake.Paused() || n.paused.now() != (serve.PauseState{}) {
		t.Errorf("it has not ended: %v, %+v", n.intake.Paused(), n.paused.now())
	}
}
