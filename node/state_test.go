package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/statefile"
	"github.com/locket-dev/locket/node/wearables"
	"github.com/locket-dev/locket/node/zones"
)

// restart returns the node of a home after a restart, locked and running.
func restart(t *testing.T, n *Node) *Node {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(n.cfg, Options{Cache: compiled, Version: "test", Worker: n.worker})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return again
}

// kept is a wearable as it is in the list.
type kept struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
}

// letIn reports whether a wearable is admitted with its password, over MQTT.
func letIn(t *testing.T, n *Node, name, password string) bool {
	t.Helper()
	c, err := wear.Dial(wear.Config{URL: "tcp://" + n.broker.Addr().String(), Device: name, Password: password, Hello: wire.Hello{Model: "test", Firmware: "1"}, MaxWait: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for end := time.Now().Add(10 * time.Minute); ; {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := c.Ready(ctx)
		stop()
		switch {
		case err == nil:
			return true
		case strings.Contains(err.Error(), "not Authorized"), strings.Contains(err.Error(), "bad user name or password"):
			return false
		case time.Now().After(end):
			t.Fatalf("neither let in nor refused: %v", err)
		}
	}
}

// body returns the contents of a state file, without the lines that say who wrote
// it.
func body(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b[:bytes.Index(append(b, "\n# "...), []byte("\n# "))+1]
}

// Somebody who has the disk for a minute adds a wearable of their own, removes a
// zone or ends a pause. A locked node then admits nobody and takes nothing in; an
// open one restores what was there, and says so.
func TestThreatStateFilesChanged(t *testing.T) {
	t.Parallel()
	own, hash, err := intake.NewDevice("intruder")
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(f func(string, []byte) error) func(*testing.T, string, []byte) {
		return func(t *testing.T, path string, b []byte) {
			if err := f(path, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	byHand := sealed(func(path string, b []byte) error { return os.WriteFile(path, b, 0o600) })
	withASum := sealed(atomicfile.WriteChecked)
	for name, c := range map[string]struct {
		file   string
		change func(t *testing.T, path string)
	}{
		"a wearable is added": {wearables.File, func(t *testing.T, path string) {
			var list []kept
			if err := json.Unmarshal(body(t, path), &list); err != nil {
				t.Fatal(err)
			}
			b, _ := json.Marshal(append(list, kept{Name: "intruder", Hash: hash}))
			byHand(t, path, b)
		}},
		"a zone is taken away": {zonesFile, func(t *testing.T, path string) { byHand(t, path, []byte("[]\n")) }},
		"the zones are gone":   {zonesFile, func(t *testing.T, path string) { os.Remove(path) }},
		"a zone is changed, and its copy": {zonesFile, func(t *testing.T, path string) {
			withASum(t, path, []byte(`[{"name":"other","window":"01:00-01:01"}]`))
		}},
		"a pause is ended": {pauseFile, func(t *testing.T, path string) { byHand(t, path, []byte("{\"paused\":false}\n")) }},
		"another file's signature is used": {pauseFile, func(t *testing.T, path string) {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(path), zonesFile))
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(b, []byte("# signed"))
			end := at + bytes.IndexByte(b[at:], '\n') + 1
			withASum(t, path, append([]byte("{\"paused\":false}\n"), b[at:end]...))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			n := initNode(t, nil, InitOptions{KeyFile: true})
			ctx := t.Context()
			if err := n.Unlock(ctx, ""); err != nil {
				t.Fatal(err)
			}
			pin, err := n.AddDevice(ctx, "pin")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.AddZone(ctx, zones.Zone{Name: "night", Window: "23:00-06:00"}); err != nil {
				t.Fatal(err)
			}
			if c.file == pauseFile {
				if _, err := n.Pause(ctx, time.Time{}); err != nil {
					t.Fatal(err)
				}
			}
			n = restart(t, n)
			if c.file != pauseFile && (n.intake.Paused() || !letIn(t, n, "pin", string(pin.Password))) {
				t.Fatal("a locked node does not take in what it should")
			}
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			c.change(t, n.path(c.file))

			n = restart(t, n)
			if !n.intake.Paused() {
				t.Error("something is taken in")
			}
			if c.file == wearables.File && letIn(t, n, "intruder", own.Password) {
				t.Error("the intruder is let in")
			}
			if _, err := n.Resume(ctx); !errors.Is(err, memory.ErrLocked) {
				t.Errorf("locked, and resumed: %v", err)
			}
			if err := n.Unlock(ctx, ""); err != nil {
				t.Fatal(err)
			}
			if s, err := n.Status(ctx); err != nil || !s.Pause.Paused || !n.intake.Paused() {
				t.Errorf("open, and nothing is held: %+v, %v", s.Pause, err)
			}
			if c.file == wearables.File && letIn(t, n, "intruder", own.Password) {
				t.Error("the intruder is let in once the node is open")
			}
			list, err := n.Zones(ctx)
			if err != nil || strings.Contains(name, "copy") != (len(list) == 0) {
				t.Errorf("zones: %+v, %v", list, err)
			}
			if _, err := n.Resume(ctx); err != nil || n.intake.Paused() {
				t.Errorf("it can't be resumed: %v", err)
			}
			if !letIn(t, n, "pin", string(pin.Password)) {
				t.Error("the wearer's own is not let in")
			}
			if n = restart(t, n); n.intake.Paused() {
				t.Error("recording is paused again after another restart")
			}
		})
	}
}

// Something else changes the list of wearables while the node is open. When the
// wearer then adds or removes a wearable, the node does not sign the foreign
// change along with its own.
func TestThreatStateFilesChangedWhileOpen(t *testing.T) {
	t.Parallel()
	n := running(t, nil)
	ctx := t.Context()
	if _, err := n.AddDevice(ctx, "pin"); err != nil {
		t.Fatal(err)
	}
	own, hash, err := intake.NewDevice("intruder")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal([]kept{{Name: "intruder", Hash: hash}, {Name: "pin", Hash: hash}})
	if err := os.WriteFile(n.path(wearables.File), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := n.AddDevice(ctx, "ring"); !errors.Is(err, statefile.ErrUnsigned) {
		t.Errorf("added: %v", err)
	}
	if err := n.RemoveDevice(ctx, "pin"); !errors.Is(err, statefile.ErrUnsigned) {
		t.Errorf("removed: %v", err)
	}
	if letIn(t, n, "intruder", own.Password) {
		t.Error("the intruder is let in")
	}
}

// While the node is locked, a pause can begin and end; wearables and zones change
// while it is open.
func TestStateWhileLocked(t *testing.T) {
	n := restart(t, initNode(t, nil, InitOptions{KeyFile: true}))
	ctx := t.Context()
	if _, err := n.AddDevice(ctx, "pin"); !errors.Is(err, memory.ErrLocked) {
		t.Error(err)
	}
	if _, err := n.AddZone(ctx, zones.Zone{Name: "night", Window: "23:00-06:00"}); !errors.Is(err, memory.ErrLocked) {
		t.Error(err)
	}
	if _, err := n.Pause(ctx, time.Time{}); err != nil || !n.intake.Paused() {
		t.Error(err)
	}
	if _, err := n.Resume(ctx); err != nil || n.intake.Paused() {
		t.Error(err)
	}
	if err := n.Unlock(ctx, ""); err != nil || n.intake.Paused() {
		t.Error(err)
	}
	if n = restart(t, n); n.intake.Paused() {
		t.Error("what an open node found was not signed")
	}
}
