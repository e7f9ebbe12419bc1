package keyring

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRepairOfEachFile: each file of a ring is damaged or removed on its own, and is restored.
func TestRepairOfEachFile(t *testing.T) {
	dir, files := damageable(t)
	files = append(files, genesisFile)
	if found := Check(dir); len(found) > 0 {
		t.Fatal(found)
	}
	for _, name := range files {
		for _, at := range []string{name, filepath.Join(spareDir, name)} {
			path := filepath.Join(dir, at)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for n, harm := range []func() error{
				func() error {
					b := bytes.Clone(whole)
					b[len(b)/2] ^= 4
					return os.WriteFile(path, b, 0o600)
				},
				func() error { return os.WriteFile(path, whole[:len(whole)/2], 0o600) },
				func() error { return os.Remove(path) },
			} {
				if err := harm(); err != nil {
					t.Fatal(err)
				}
				found, moved := Check(dir), []string(nil)
				isSpareGone := n == 2 && at != name
				if isSpareGone != (len(found) == 0) {
					t.Errorf("%s, harm %d: found %v", at, n, found)
				}
				if len(found) > 0 && (!errors.Is(found[0], ErrDamaged) || !strings.Contains(found[0].Error(), path)) {
					t.Errorf("%s, harm %d: %v", at, n, found)
				}
				_, left, err := Mend(dir, func(p string) error { moved = append(moved, p); return os.Remove(p) })
				if err != nil || len(left) > 0 || len(Check(dir)) > 0 {
					t.Errorf("%s, harm %d: left %v, %v", at, n, left, err)
				}
				if n < 2 && !slices.Equal(moved, []string{path}) {
					t.Errorf("%s, harm %d: moved %v", at, n, moved)
				}
				if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, whole) {
					t.Errorf("%s, harm %d: is %q, %v", at, n, b, err)
				}
			}
		}
	}
	for _, name := range files {
		if err := use(t, dir, name); err != nil {
			t.Error(name, err)
		}
	}
}

func TestRepairNamesFilesWithoutCopy(t *testing.T) {
	dir, _ := damageable(t)
	for _, p := range []string{ringFile, filepath.Join(spareDir, ringFile)} {
		if err := os.WriteFile(filepath.Join(dir, p), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, left, err := Mend(dir, os.Remove)
	if err != nil || len(left) != 1 || !strings.Contains(left[0].Error(), ringFile) {
		t.Error(left, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, ringFile)); err != nil || string(b) != "x" {
		t.Error("what can't be mended was touched:", b, err)
	}
}

// After a change of the passphrase, the old one can't open a copy, and a removed way to unlock has
// no copy.
func TestCopiesFollowThePassphrase(t *testing.T) {
	dir, r, _ := byFile(t)
	for _, p := range []string{"first", "second"} {
		if err := r.ChangePassphrase(ctx, KeyFile(""), p); err != nil {
			t.Fatal(err)
		}
		same(t, dir, WrapPassphrase.file())
	}
	old, err := os.ReadFile(filepath.Join(dir, WrapPassphrase.file()))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ChangePassphrase(ctx, KeyFile(""), "third"); err != nil {
		t.Fatal(err)
	}
	spare := filepath.Join(dir, spareDir, WrapPassphrase.file())
	if err := os.WriteFile(spare, old, 0o600); err != nil { // as a crash between the two writes leaves it
		t.Fatal(err)
	}
	if err := r.KeepSpares(); err != nil {
		t.Fatal(err)
	}
	same(t, dir, WrapPassphrase.file())
	if err := r.RemoveWrap(WrapKeyFile); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{WrapKeyFile.file(), DefaultKeyFile} {
		if _, err := os.Stat(filepath.Join(dir, spareDir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a copy of %s is left: %v", name, err)
		}
	}
}

// A passphrase that could not be changed completely, as on a full disk, is not changed at all.
func TestPassphraseThatCouldNotBeChanged(t *testing.T) {
	dir, r, _ := byFile(t)
	if err := r.ChangePassphrase(ctx, KeyFile(""), "first"); err != nil {
		t.Fatal(err)
	}
	spare := filepath.Join(dir, spareDir) // a file is in the place of the folder with the copies
	if err := errors.Join(os.RemoveAll(spare), os.WriteFile(spare, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := r.ChangePassphrase(ctx, KeyFile(""), "second"); err == nil {
		t.Fatal("changed without a copy")
	}
	if err := r.Check(ctx, Passphrase("first")); err != nil {
		t.Errorf("the old one: %v", err)
	}
	if err := r.Check(ctx, Passphrase("second")); !errors.Is(err, ErrWrongPassphrase) {
		t.Errorf("the new one: %v", err)
	}
}

func same(t *testing.T, dir, name string) {
	t.Helper()
	a, err := os.ReadFile(filepath.Join(dir, name))
	b, err2 := os.ReadFile(filepath.Join(dir, spareDir, name))
	if err := errors.Join(err, err2); err != nil || !bytes.Equal(a, b) {
		t.Errorf("%s and its copy: %v", name, err)
	}
}
