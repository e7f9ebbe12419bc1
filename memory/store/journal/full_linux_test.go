package journal

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// A disk that is really full: a tmpfs of 256 KiB if this process may mount one, else a child
// process with a limit on file sizes.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("locket", dir, "tmpfs", 0, "size=256k"); err == nil {
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		fullDisk(t, dir)
		return
	}
	t.Log("no right to mount: the file size limit stands in")
	fullBySize(t)
}

func fullDisk(t *testing.T, dir string) {
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 96<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "journal")
	j := open(t, sub, Options{MaxSegment: 32 << 10, Reserve: -1})
	n := fillUntilFull(t, j)
	if st := j.Stats(); st.Refused < 10 || st.Entries != int64(n) {
		t.Errorf("%d acknowledged, %+v", n, st)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	fill(t, j, n, n+50) // there is space again, and nothing was lost
	j.Close()
	j = open(t, sub, Options{Reserve: -1})
	entries, damage := drain(t, j, 0)
	if expect(t, entries, n+50); len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
	t.Logf("full after %d entries", n)

	j = open(t, sub, Options{Reserve: math.MaxInt32})
	if _, err := j.Append(context.Background(), entry(0)); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("below the reserve, by statfs: %v", err)
	}
}

// fillUntilFull appends until ten in a row were refused.
func fillUntilFull(t *testing.T, j *Journal) (n int) {
	t.Helper()
	for refused := 0; refused < 10; {
		switch _, err := j.Append(context.Background(), entry(n)); {
		case err == nil:
			n++
			refused = 0
		case errors.Is(err, memory.ErrNoSpace):
			refused++
		default:
			t.Fatal(err)
		}
		if n > 1e5 {
			t.Fatal("the disk never fills")
		}
	}
	return n
}
