package store

import (
	"errors"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

// formatZero makes a store in the trial layout: no guards, no buckets, no index of memories by
// time, and format 0 in the head.
func formatZero(t *testing.T, memories int) (dir string) {
	s := open(t, t.TempDir())
	for i := range memories {
		update(t, s, func(tx *Tx) error {
			_, err := tx.Assert(home(i, me, uint64(i+1), string(rune('A'+i))+"ville"))
			return err
		})
	}
	h := s.state.head
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sec := newSecrets(testKey())
	raw(t, s.opt.Dir, func(txn *badger.Txn) error {
		for _, k := range []kind{kindHead, kindGuard, kindMemoryTime} {
			for _, key := range keysUnder(txn, k) {
				if err := txn.Delete(key); err != nil {
					return err
				}
			}
		}
		h.Format, h.Total = 0, nil
		plain, err := encode(h)
		return errors.Join(err, txn.Set(headKey, sec.seal(headKey, h.Version, plain)))
	})
	if err := sec.writeAnchor(s.opt.Dir, sec.anchorOf(&h)); err != nil {
		t.Fatal(err)
	}
	return s.opt.Dir
}

func TestMigrateFromZero(t *testing.T) {
	dir := formatZero(t, 5)
	s := open(t, dir)
	if s.state.head.Format != Format {
		t.Errorf("format %d", s.state.head.Format)
	}
	sound(t, s)
	view(t, s, func(tx *Tx) error {
		got := collect(t, tx.Memories(Filter{Oldest: true}))
		if len(got) != 5 || got[0].Slot.Value != "Aville" || got[4].State != memory.Active {
			t.Errorf("memories after migration: %d", len(got))
		}
		if d, err := tx.Find(testID(3).String()); err != nil || d.Slot.Value != "Dville" {
			t.Errorf("find: %v", err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		if d, err := tx.NextDot(me); err != nil || d.Seq>>countBits == 0 {
			t.Errorf("next dot: %v, %v", d, err)
		}
		changes, err := tx.Assert(home(5, me, 6, "Fville"))
		if len(changes) == 0 || changes[0].Seq <= 5 {
			t.Errorf("changes go on with %+v", changes)
		}
		return err
	})
	sound(t, reopen(t, s))
}

// TestMigrateEmpty: a store in which nothing was ever written.
func TestMigrateEmpty(t *testing.T) { sound(t, open(t, formatZero(t, 0))) }

// TestMigrateDamaged: a record that can't be read stops a migration, and stays as it was.
func TestMigrateDamaged(t *testing.T) {
	dir := formatZero(t, 2)
	key := memoryKey(testID(1))
	var good []byte
	raw(t, dir, func(txn *badger.Txn) error {
		good = rawGet(t, txn, key)
		bad := append([]byte(nil), good...)
		bad[len(bad)-1] ^= 1
		return txn.Set(key, bad)
	})
	_, err := Open(testOptions(dir))
	if d := new(Damage); !errors.As(err, &d) || d.Key != testID(1).String() {
		t.Fatalf("open: %v", err)
	}
	raw(t, dir, func(txn *badger.Txn) error { return txn.Set(key, good) })
	sound(t, open(t, dir))
}

func TestNewerFormatIsRefused(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error { tx.force = true; tx.state.head.Format = Format + 1; return nil })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(testOptions(s.opt.Dir)); !errors.Is(err, ErrNewer) {
		t.Errorf("open: %v", err)
	}
}

func TestMigrationsLeadToFormat(t *testing.T) {
	if len(migrations) != readFormat {
		t.Fatalf("%d steps, format %d", len(migrations), readFormat)
	}
	for i, m := range migrations {
		if m.from != i || m.record == nil {
			t.Errorf("step %d is from %d", i, m.from)
		}
	}
}
