package store

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

// chill makes a store with four cold facts of member you, two in each of two packs, and one hot
// fact.
func chill(t *testing.T, dir string) (sh packStore, said []memory.Assertion) {
	t.Helper()
	s, err := Open(testOptions(dir))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		said = append(said, fact(n+1, you, uint64(n+1), []string{"Plums.", "Pears.", "Tea.", "Rain.", "Ghent."}[n]))
	}
	update(t, s, func(tx *Tx) error { _, err := tx.AssertRemote(said...); return err })
	sh = packStore{}
	sh.freeze(t, s, testID(1), testID(2))
	sh.freeze(t, s, testID(3), testID(4))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return sh, said
}

// takeAway removes records with their guards without the store's knowledge.
func takeAway(t *testing.T, dir string, keys ...[]byte) {
	t.Helper()
	sec := newSecrets(testKey())
	raw(t, dir, func(txn *badger.Txn) error {
		var errs []error
		for _, key := range keys {
			errs = append(errs, txn.Delete(key), txn.Delete(sec.guardKey(key)))
		}
		return errors.Join(errs...)
	})
}

// again takes what a relay returns from its first delta on, and returns how much of it was new.
func again(t *testing.T, s *Store, said []memory.Assertion) (fresh int) {
	t.Helper()
	update(t, s, func(tx *Tx) error {
		changes, err := tx.AssertRemote(said...)
		fresh = len(changes)
		return err
	})
	return fresh
}

// Memories of a lost page come back when they are said again; those of the other page stay cold,
// and erased ones stay erased.
func TestSalvageWithoutAColdPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	sh, said := chill(t, dir)
	s := open(t, dir)
	update(t, s, func(tx *Tx) error { return tx.EraseRemote(Targets{Memories: []memory.ID{testID(2)}}) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	takeAway(t, dir, coldKey(1))
	r, s := salvaged(t, dir)
	if len(r.Lost) == 0 {
		t.Error("nothing is named as lost")
	}
	if n := again(t, s, said); n != 1 {
		t.Errorf("%d came new, want that of the lost page which was not erased", n)
	}
	if m, _ := remembered(t, s, testID(1)); m.Text != "Plums." {
		t.Errorf("%+v", m)
	}
	view(t, s, func(tx *Tx) error {
		if gone, err := tx.Erased(testID(2)); err != nil || !gone {
			t.Error("what was erased is back", err)
		}
		for _, n := range []int{3, 4} {
			if _, cold, err := tx.Stub(testID(n)); err != nil || !cold {
				t.Errorf("memory %d is not cold any more, %v", n, err)
			}
		}
		if wanted, err := tx.Wanted(); err != nil || len(wanted) > 0 {
			t.Errorf("wanted: %+v, %v", wanted, err)
		}
		return nil
	})
	if n := again(t, s, said); n != 0 {
		t.Errorf("said a third time: %d", n)
	}
	if n := sh.thaw(t, s); n != 2 {
		t.Errorf("%d came back of the page that is there", n)
	}
	sound(t, s)
	// Another assertion with the same dot is still refused.
	update(t, s, func(tx *Tx) error {
		if _, err := tx.AssertRemote(fact(9, you, 1, "Otherwise.")); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("the dot on another assertion: %v", err)
		}
		return nil
	})
}

// A memory that came back from a pack and was then lost here is taken again as well, although its
// dots are still in the record of cold dots.
func TestSalvageOfAReturnedMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	sh, said := chill(t, dir)
	s := open(t, dir)
	sh.thaw(t, s, testID(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	takeAway(t, dir, assertionKey(testID(1), said[0].Dot), memoryKey(testID(1)))
	_, s = salvaged(t, dir)
	if n := again(t, s, said); n != 1 {
		t.Errorf("%d came new", n)
	}
	if m, _ := remembered(t, s, testID(1)); m.Text != "Plums." {
		t.Errorf("%+v", m)
	}
	sound(t, s)
}

// An assertion about a cold memory has a dot of its own, which may lie between those of the cold
// assertions about it.
func TestSalvageAssertionAboutAColdMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	_, said := chill(t, dir)
	news := act(3, you, 6, memory.ActReinforce)
	news.Evidence = said[2].Candidate.Evidence
	s := open(t, dir)
	update(t, s, func(tx *Tx) error {
		if _, err := tx.AssertRemote(news); err != nil {
			return err
		}
		d, err := tx.coldDots(you)
		if err != nil {
			return err
		}
		return tx.save(coldDotsKey(you), d.with(6))
	})
	key := assertionKey(testID(3), news.Dot)
	update(t, s, func(tx *Tx) error { return errors.Join(tx.del(key), tx.del(keyOf(kindDot, dotKey(news.Dot)))) })
	if again(t, s, []memory.Assertion{news}); here(t, s, key) {
		t.Fatal("it was not taken for a cold one: the test shows nothing")
	}
	update(t, s, func(tx *Tx) error { return errors.Join(tx.notCold([]Damage{*damaged(key, "is missing")}), tx.doubt()) })
	if again(t, s, append(said, news)); !here(t, s, key) {
		t.Error("the assertion was not accepted again, although its dot is in doubt")
	}
	sound(t, s)
}

func here(t *testing.T, s *Store, key []byte) (ok bool) {
	t.Helper()
	view(t, s, func(tx *Tx) (err error) { _, ok, err = tx.get(key); return err })
	return ok
}

// A pack that the pack store has lost is given up: assertions that come again replace its stubs,
// and the other stubs stay.
func TestLostPackIsGivenUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	sh, said := chill(t, dir)
	s := open(t, dir)
	if n := again(t, s, said); n != 0 {
		t.Fatalf("%d came new before it was given up", n)
	}
	update(t, s, func(tx *Tx) error { return tx.GiveUp(1) })
	if n := again(t, s, said[1:]); n != 1 {
		t.Errorf("%d came new", n)
	}
	update(t, s, func(tx *Tx) error {
		if left, err := tx.DropReplacedStubs(1); err != nil || len(left) != 1 || left[0].ID != testID(1) {
			t.Errorf("left %+v, %v", left, err)
		}
		if up, err := tx.GivenUp(); err != nil || !slices.Equal(up, []uint64{1}) {
			t.Errorf("given up: %v, %v", up, err)
		}
		return nil
	})
	// The pack store has the pack after all.
	if n := sh.thaw(t, s, testID(1)); n != 1 {
		t.Errorf("%d came back", n)
	}
	update(t, s, func(tx *Tx) error {
		if left, err := tx.DropReplacedStubs(1); err != nil || len(left) > 0 {
			t.Errorf("left %+v, %v", left, err)
		}
		if up, err := tx.GivenUp(); err != nil || len(up) > 0 {
			t.Errorf("given up: %v, %v", up, err)
		}
		if n, err := tx.ColdCount(); err != nil || n != 2 {
			t.Errorf("%d cold, %v", n, err)
		}
		return errors.Join(tx.DropPack(1), wantInvalid(t, tx.GiveUp(1)))
	})
	for n, want := range map[int]string{1: "Plums.", 2: "Pears."} {
		if m, _ := remembered(t, s, testID(n)); m.Text != want {
			t.Errorf("%+v", m)
		}
	}
	sound(t, s)
}

// wantInvalid expects that a pack is not there.
func wantInvalid(t *testing.T, err error) error {
	if !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a pack that is not there: %v", err)
	}
	return nil
}
