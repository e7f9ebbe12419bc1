package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestReserve(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "j")
	free := uint64(1000)
	var failed error
	j := open(t, dir, Options{Reserve: 1000, Free: func(d string) (uint64, error) {
		if d != dir {
			t.Errorf("asked for %s", d)
		}
		return free, failed
	}})
	refuse := func(want error) {
		t.Helper()
		if _, err := j.Append(context.Background(), entry(0)); !errors.Is(err, want) {
			t.Fatalf("%d bytes free: %v", free, err)
		}
	}
	refuse(memory.ErrNoSpace)
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("something was written: %v", names)
	}
	free = 1 << 20
	fill(t, j, 0, 5)
	before := load(t, dir)[fileName(1)]
	for _, free = range []uint64{0, 999, 1000, 1010} {
		refuse(memory.ErrNoSpace)
	}
	free, failed = 1<<20, os.ErrPermission
	refuse(os.ErrPermission)
	if after := load(t, dir)[fileName(1)]; len(after) != len(before) {
		t.Errorf("%d bytes became %d", len(before), len(after))
	}
	failed = nil
	fill(t, j, 5, 9)
	entries, damage := drain(t, j, 0)
	if expect(t, entries, 9); len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
}
