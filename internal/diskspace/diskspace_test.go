package diskspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFree(t *testing.T) {
	if n, err := Free(t.TempDir()); err != nil || n == 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := Free(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that isn't there: %v", err)
	}
}

func TestUsed(t *testing.T) {
	dir := t.TempDir()
	if n, err := Used(dir); err != nil || n != 0 {
		t.Fatalf("an empty folder: %d bytes, %v", n, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "in/b"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := Used(dir); err != nil || n < 200_000 || n > 400_000 {
		t.Errorf("two files of 100,000 bytes: %d, %v", n, err)
	}
	if n, err := Used(filepath.Join(dir, "nowhere")); err != nil || n != 0 {
		t.Errorf("a folder that is gone: %d, %v", n, err)
	}
}

func TestIsDiskFullError(t *testing.T) {
	if !IsFull(&os.PathError{Op: "write", Path: "x", Err: full}) || IsFull(fs.ErrNotExist) || IsFull(nil) {
		t.Error("a full disk is not told from other errors")
	}
}
