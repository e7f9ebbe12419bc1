package backup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/node/archive"
)

// A backup on a medium that can't be written is read and checked, and not written.
func TestReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stick")
	f := open(t, folder(dir))
	write(t, f, export(300))
	ix, err := f.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bad := place(ix.Pieces[len(ix.Pieces)/2])
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		t.Fatalf("a mount is needed for this test, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	protect := func(flags uintptr) {
		t.Helper()
		if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	protect(unix.MS_RDONLY)
	if f, err = Open(t.Context(), folder(dir), pass); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, f); len(got) != 300 {
		t.Errorf("%d lines", len(got))
	}
	if _, err := f.Write(t.Context(), export(301), WriteOptions{Spool: t.TempDir()}); !errors.Is(err, unix.EROFS) {
		t.Errorf("it was written: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	// Damage is named there, too.
	protect(0)
	if err := os.WriteFile(filepath.Join(dir, bad), []byte(strings.Repeat("x", 99)), 0o600); err != nil {
		t.Fatal(err)
	}
	protect(unix.MS_RDONLY)
	if f, err = Open(t.Context(), folder(dir), pass); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := archive.Check(f.Records(t.Context()), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if names, err := f.NoteDamage(t.Context()); !slices.Equal(names, []string{bad}) || !errors.Is(err, unix.EROFS) {
		t.Errorf("%q, %v", names, err)
	}
}
