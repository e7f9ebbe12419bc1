package store

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

// Knows distinguishes assertions that were taken under a dot, be they hot, cold or erased, from all
// others.
func TestKnows(t *testing.T) {
	sh := packStore{}
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(fact(1, you, 1, "Cold."), fact(2, you, 2, "Hot."), fact(3, you, 3, "Erased."))
		return err
	})
	update(t, s, func(tx *Tx) error { return tx.Erase(Targets{Memories: []memory.ID{testID(3)}}) })
	if n, _ := sh.freeze(t, s, testID(1)); n != 1 {
		t.Fatal(n)
	}
	update(t, s, func(tx *Tx) error {
		for n := range 4 {
			if known, err := tx.Knows(testID(n+1), memory.Dot{Member: you, Seq: uint64(n) + 1}); err != nil || known != (n < 3) {
				t.Errorf("%d: %v, %v", n+1, known, err)
			}
		}
		if known, err := tx.Knows(testID(1), memory.Dot{Member: you, Seq: 2}); err != nil || known {
			t.Errorf("about another: %v, %v", known, err)
		}
		return nil
	})
}
