package store

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// After each change, the record of who asserted what equals the result of reading all assertions.
func TestAboutIsConsistent(t *testing.T) {
	s := open(t, t.TempDir())
	by := func(n uint64, plugin string) memory.Assertion {
		a := home(int(n), me, n, "Ghent")
		a.Source.Plugin = plugin
		return a
	}
	check := func(what string, want ...memory.ID) {
		t.Helper()
		slices.SortFunc(want, func(a, b memory.ID) int { return slices.Compare(a[:], b[:]) })
		view(t, s, func(tx *Tx) error {
			got, err := tx.About("dream")
			if err != nil {
				return err
			}
			all, err := tx.assertedBy(keyOf(kindAssertion), "dream")
			if !slices.Equal(got, all) || !slices.Equal(got, want) {
				t.Errorf("after %s: %v, all that there are: %v, want %v", what, got, all, want)
			}
			return err
		})
	}
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(by(1, "facts"), by(2, "dream")); return err })
	check("the first", testID(2))
	if !s.abouts.of["dream"].whole {
		t.Error("nothing is kept")
	}
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(by(3, "dream"), by(4, "facts"))
		if got, err := tx.About("dream"); err != nil || len(got) != 2 {
			t.Errorf("within a transaction: %v, %v", got, err)
		}
		return err
	})
	check("another", testID(2), testID(3))
	update(t, s, func(tx *Tx) error { return tx.Erase(Targets{Memories: []memory.ID{testID(2)}}) })
	check("an erasure", testID(3))

	// A transaction that sees an older state neither records nor gets later assertions.
	old := &Tx{store: s, txn: s.db.NewTransaction(false)}
	defer old.txn.Discard()
	s.abouts.of = nil
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(by(5, "dream")); return err })
	if got, err := old.About("dream"); err != nil || !slices.Equal(got, []memory.ID{testID(3)}) || s.abouts.of["dream"] != nil {
		t.Errorf("%v, %v; kept is %+v", got, err, s.abouts.of["dream"])
	}
	check("a reader of an older state", testID(3), testID(5))
	if got, err := old.About("dream"); err != nil || !slices.Equal(got, []memory.ID{testID(3)}) {
		t.Errorf("%v, %v", got, err)
	}
}
