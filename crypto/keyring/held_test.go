package keyring

import (
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/internal/lockedmem"
)

// An unlocked ring's symmetric keys and seeds are neither swapped nor dumped, as far as the
// platform allows, and are gone once it is closed.
func TestUnlockedRingIsInLockedMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	made, _, err := Create(dir, CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	before, _ := lockedmem.State()
	r, err := unlock(t, dir, KeyFile(""))
	if err != nil {
		t.Fatal(err)
	}
	// The key of ring.sealed, the master key, and the seeds of device and journal.
	if n, _ := lockedmem.State(); n != before+4+len(r.keys) {
		t.Errorf("%d secrets are held, want 4 and %d named ones", n-before, len(r.keys))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n, _ := lockedmem.State(); n != before {
		t.Errorf("%d secrets are held by a closed ring", n-before)
	}
}
