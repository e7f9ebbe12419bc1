package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// Hints behave like a map, whether they are in the lists or in the map.
func TestHints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h hints
		want := map[uint64]uint32{}
		hint := rapid.Uint64Range(0, 300)
		for range rapid.IntRange(0, 400).Draw(t, "puts") {
			k, v := hint.Draw(t, "hint"), rapid.Uint32Range(1, 9).Draw(t, "pack")
			h.put(k, v)
			want[k] = v
			if rapid.IntRange(0, 20).Draw(t, "settle") == 0 {
				h.settle()
			}
		}
		if h.any() != (len(want) > 0) {
			t.Fatalf("any: %v", h.any())
		}
		for k := range uint64(301) {
			got, ok := h.find(k)
			if v, there := want[k]; ok != there || got != uint64(v) {
				t.Fatalf("%d: %d, %v; want %d, %v", k, got, ok, v, there)
			}
		}
		for i := 1; i < len(h.keys); i++ {
			if h.keys[i-1] >= h.keys[i] {
				t.Fatalf("the order of %d", i)
			}
		}
	})
}

// When there are many hints, they settle by themselves.
func TestManyHintsAreMerged(t *testing.T) {
	var h hints
	for i := range uint32(20000) {
		h.put(uint64(i)*0x9e3779b97f4a7c15, i)
	}
	if len(h.keys) == 0 || len(h.fresh) > 1024+len(h.keys)/8 {
		t.Errorf("%d in lists, %d in the map", len(h.keys), len(h.fresh))
	}
	for i := range uint32(20000) {
		if n, ok := h.find(uint64(i) * 0x9e3779b97f4a7c15); !ok || n != uint64(i) {
			t.Fatalf("%d: %d, %v", i, n, ok)
		}
	}
}

// A whole id, or most of one, is looked for in one page, however many pages there are.
func TestFindReadsOnePage(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	for n := 1; n <= 3; n++ {
		update(t, s, func(tx *Tx) error {
			_, err := tx.AssertRemote(fact(n, you, uint64(n), fmt.Sprint("Fact ", n)))
			return err
		})
		if n, _ := sh.freeze(t, s, testID(n)); n != 1 {
			t.Fatalf("%d turned cold", n)
		}
	}
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(coldKey(2), []byte("nonsense")) })
	if err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		var cold *memory.ColdError
		for _, n := range []int{1, 3} {
			if _, err := tx.Find(testID(n).String()[:hintChars]); !errors.As(err, &cold) || cold.ID != testID(n) {
				t.Errorf("%d: %v", n, err)
			}
		}
		if _, err := tx.Find(testID(9).String()); !errors.Is(err, memory.ErrNotFound) || errors.Is(err, memory.ErrDamaged) {
			t.Errorf("none: %v", err)
		}
		for _, n := range []int{2, hintChars} { // a short prefix is looked for in all pages, so the bad page is found as damage
			if _, err := tx.Find(testID(2).String()[:n]); !errors.Is(err, memory.ErrDamaged) {
				t.Errorf("%d characters: %v", n, err)
			}
		}
		return nil
	})
}
