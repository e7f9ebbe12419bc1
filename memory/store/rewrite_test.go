package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// TestCompactWithFailingRename makes each rename of a compaction fail, as a full or failing disk does:
// the store must continue with all its records.
func TestCompactWithFailingRename(t *testing.T) {
	for _, name := range []string{newName, oldName} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			update(t, s, func(tx *Tx) error {
				_, err := tx.Assert(home(1, me, 1, "Oslo"))
				return err
			})
			// A rename to a folder that is not empty fails.
			if err := os.MkdirAll(filepath.Join(s.opt.Dir, name, "in the way"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := s.Compact(t.Context()); err == nil {
				t.Fatal("compacted, with a rename that can't be")
			}
			kept(t, s) // it goes on
			update(t, s, func(tx *Tx) error { return tx.PutMeta("after", true) })
			if err := s.Compact(t.Context()); err != nil {
				t.Error(err)
			}
			s = reopen(t, s)
			kept(t, s)
			view(t, s, func(tx *Tx) error {
				var after bool
				if _, err := tx.Meta("after", &after); err != nil || !after {
					t.Errorf("what was written after it: %v, %v", after, err)
				}
				return nil
			})
		})
	}
}

// TestOnlyTheReplacedDatabase opens a store that has only the replaced database.
func TestOnlyTheReplacedDatabase(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(home(1, me, 1, "Oslo"))
		return err
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	dir := s.opt.Dir
	if err := os.Rename(filepath.Join(dir, recordsName), filepath.Join(dir, oldName)); err != nil {
		t.Fatal(err)
	}
	kept(t, open(t, dir))
}

// kept checks that the one memory is there, and that the store is sound.
func kept(t *testing.T, s *Store) {
	t.Helper()
	sound(t, s)
	view(t, s, func(tx *Tx) error {
		if got := collect(t, tx.Memories(Filter{})); len(got) != 1 || got[0].ID != testID(1) || got[0].State != memory.Active {
			t.Errorf("%d memories, want the one", len(got))
		}
		return nil
	})
}
