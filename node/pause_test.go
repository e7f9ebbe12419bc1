package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/membership"
)

// A pause ends at its time even if the end can't be written to disk: what
// wearables send afterwards is not dropped. A pause that was begun at that
// moment stays.
func TestPauseEnds(t *testing.T) {
	n := initNode(t, nil, InitOptions{KeyFile: true})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.paused.start(nil) // the test ends it by hand
	if _, err := n.Pause(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	n.endPause()
	if !n.intake.Paused() {
		t.Error("the pause ended too early")
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
	if n.intake.Paused() || n.paused.current() != (serve.PauseState{}) {
		t.Errorf("it has not ended: %v, %+v", n.intake.Paused(), n.paused.current())
	}
}

// The times of a pause are known after it, across a restart, and also if another
// pause replaced it.
func TestPausesAreRemembered(t *testing.T) {
	ring, _, err := keyring.Create(filepath.Join(t.TempDir(), "keys"), keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, FoundSpace: membership.FoundSpace("")})
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	path := filepath.Join(t.TempDir(), pauseFile)
	var p pauseTimer
	noon := time.Date(2026, 9, 14, 12, 0, 0, 0, time.UTC)
	minutes := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	set := func(n int, s serve.PauseState) {
		t.Helper()
		p.state = p.state.after(s, minutes(n))
	}
	set(10, serve.PauseState{Paused: true})
	set(20, serve.PauseState{Paused: true, Until: minutes(30)}) // it goes on
	set(50, serve.PauseState{Paused: true})                     // the other one had ended
	set(60, serve.PauseState{})
	for n, want := range map[int]bool{9: false, 10: true, 25: true, 30: false, 49: false, 50: true, 59: true, 60: false} {
		if got := p.wasPaused(minutes(n)); got != want {
			t.Errorf("minute %d: paused: %v", n, got)
		}
	}
	if err := p.set(path, serve.PauseState{Paused: true}, ring); err != nil {
		t.Fatal(err)
	}
	var again pauseTimer
	if paused, err := again.load(path, ring.Public().Device); err != nil || !paused {
		t.Fatalf("%v, %v", paused, err)
	}
	if !again.wasPaused(minutes(15)) || again.wasPaused(minutes(40)) || !again.wasPaused(time.Now()) {
		t.Errorf("after a restart: %+v", again.state)
	}
	for n := range 2 * maxPast {
		set(1000+2*n, serve.PauseState{Paused: true})
		set(1001+2*n, serve.PauseState{})
	}
	if len(p.state.Past) != maxPast {
		t.Errorf("%d are remembered", len(p.state.Past))
	}
}
