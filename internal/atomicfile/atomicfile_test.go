package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// TestStreamFails: if a file can't be written completely, it is unchanged, and nothing is left
// beside it.
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

// An error names the requested file, and not the temporary one beside it.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	absent, taken := filepath.Join(dir, "absent"), filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "with something in it"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := Write(filepath.Join(absent, "file"), nil)
	if want := "write " + filepath.Join(absent, "file") + ": there is no folder " + absent; err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %s", err, want)
	}
	full := Stream(filepath.Join(dir, "file"), func(w io.Writer) error {
		made, err := filepath.Glob(filepath.Join(dir, Prefix+"*"))
		if err != nil || len(made) != 1 {
			t.Fatal(made, err)
		}
		return &fs.PathError{Op: "write", Path: made[0], Err: syscall.ENOSPC} // as the system says it
	})
	if !errors.Is(full, syscall.ENOSPC) {
		t.Error(full)
	}
	for _, err := range []error{full, Write(taken, nil), Create(taken, nil), Write(filepath.Join(taken, "file", "below"), nil)} {
		if err == nil || strings.Contains(err.Error(), Prefix) {
			t.Error(err)
		}
	}
	if err := Create(taken, nil); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := Write(taken, nil); err == nil || err.Error() != "write "+taken+": it is a folder" {
		t.Error(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", path, b, err, want)
	}
}

// TestWriteThroughLink: settings are often links into a folder that is kept elsewhere.
func TestWriteThroughLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles"), filepath.Join(t.TempDir(), "settings")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} {
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Write(link, []byte(text)); err != nil {
			t.Fatal(err)
		}
		holds(t, target, text)
		if to, err := os.Readlink(link); err != nil || to != target {
			t.Fatalf("the link leads to %q, %v", to, err)
		}
	}
}
