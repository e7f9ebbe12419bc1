package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// TestRolledBackDirectory restores an old copy of the whole records directory: every value in it is
// as it was written, and only the anchor shows it.
func TestRolledBackDirectory(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	dir := s.opt.Dir
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(home(1, me, 1, "Ghent")); return err })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	backup, records := filepath.Join(t.TempDir(), "b"), filepath.Join(dir, recordsName)
	if err := os.CopyFS(backup, os.DirFS(records)); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(home(2, me, 2, "Antwerp")); return err })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(records), os.CopyFS(records, os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}
	_, err := Open(testOptions(dir))
	if !errors.Is(err, ErrRolledBack) || !errors.Is(err, memory.ErrDamaged) || !strings.Contains(err.Error(), "generation") {
		t.Errorf("rolled back: %v", err)
	}
	opt := testOptions(dir)
	opt.Accept = true
	s, err = Open(opt)
	if err != nil {
		t.Fatalf("accepted: %v", err)
	}
	sound(t, s)
	// The same number of transactions with other content: a fork.
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(home(2, me, 2, "Bruges")); return err })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fork := filepath.Join(t.TempDir(), "f")
	if err := os.CopyFS(fork, os.DirFS(records)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(records), os.CopyFS(records, os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}
	s, err = Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error { return tx.SetCursor("x", 1) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(records), os.CopyFS(records, os.DirFS(fork))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(testOptions(dir)); !errors.Is(err, ErrRolledBack) {
		t.Errorf("forked: %v", err)
	}
}

func TestAnchorFile(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	path := filepath.Join(s.opt.Dir, anchorName)
	update(t, s, func(tx *Tx) error { return tx.SetCursor("x", 1) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(good) != len(anchorMagic)+41+40 {
		t.Errorf("anchor of %d bytes", len(good))
	}
	sec := newSecrets(testKey())
	for i := range 8 * len(good) {
		b := bytes.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sec.readAnchor(s.opt.Dir); !errors.Is(err, memory.ErrDamaged) {
			t.Fatalf("bit %d: %v", i, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(testOptions(s.opt.Dir)); !errors.Is(err, memory.ErrDamaged) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("without its anchor: %v", err)
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	opt := testOptions(s.opt.Dir)
	opt.AnchorEvery = 3
	s, err = Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 4 {
		update(t, s, func(tx *Tx) error { return tx.SetCursor("x", s.state.head.Generation) })
	}
	a, ok, err := s.secrets.readAnchor(opt.Dir)
	if err != nil || !ok || s.state.head.Generation-a.generation >= 3 || a.generation%3 != 0 {
		t.Errorf("anchor at %d, head at %d: %v", a.generation, s.state.head.Generation, err)
	}
}
