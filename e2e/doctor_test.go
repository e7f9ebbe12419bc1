package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A disk has flipped bits: doctor names them, the repair restores what it can, and the damaged
// files are kept.
func TestDoctorRepairs(t *testing.T) {
	h := newHome(t)
	h.must("add", "I live in Lisbon.")
	h.must("add", "My sister Rita works at the harbour.")
	for _, name := range []string{"keys/ring.sealed", "store/records/KEYREGISTRY"} {
		path := filepath.Join(h.dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, stderr, code := h.try("doctor")
	if code != 1 || !strings.Contains(out, "keys/ring.sealed") || !strings.Contains(out, " doctor --repair") || stderr != "" {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	out = h.must("doctor", "--repair")
	if !strings.Contains(out, "KEYREGISTRY") || !strings.Contains(out, "Everything is repaired") {
		t.Error(out)
	}
	if out := h.must("search", "where do I live?"); !strings.Contains(out, "Lisbon") {
		t.Error(out)
	}
	if out := h.must("doctor", "--verify"); !strings.Contains(out, "Nothing is wrong") {
		t.Error(out)
	}
	for _, name := range []string{"keys/ring.sealed", "store/records/KEYREGISTRY"} {
		if found, err := filepath.Glob(filepath.Join(h.dir, "broken", "*", name)); err != nil || len(found) != 1 {
			t.Error(name, found, err)
		}
	}
	h.start()
	if _, stderr, code := h.try("doctor", "--repair"); code != 1 || !strings.Contains(stderr, "Stop the daemon before a repair") {
		t.Errorf("beside a daemon: exit %d, %s", code, stderr)
	}
}
