package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings")
	for _, text := range []string{"first, and the longer one", "second", ""} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		holds(t, path, text)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if err := Write(filepath.Join(path, "below a file"), nil); err == nil {
		t.Error("wrote below a file")
	}
}

// TestStreamFails: what can't be written whole leaves the file as it was, and
// nothing beside it.
func TestStreamFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken off")
	err := Stream(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "half of the new")
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	holds(t, path, "old")
	taken := filepath.Join(filepath.Dir(path), "folder")
	if err := os.MkdirAll(filepath.Join(taken, "with something in it"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(taken, []byte("new")); err == nil {
		t.Error("replaced a folder")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), Prefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", path, b, err, want)
	}
}
