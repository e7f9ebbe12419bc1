package store

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// TestAnyOrderDerivesTheSame gives the same assertions to two stores in two orders, in transactions
// of any size and some of them twice: afterwards both hold the same memories, and are sound.
func TestAnyOrderDerivesTheSame(t *testing.T) {
	a, b := open(t, t.TempDir()), open(t, t.TempDir())
	user := 0
	rapid.Check(t, func(t *rapid.T) {
		user++ // groups of their own, so that one pair of stores serves all rounds
		all := drawAssertions(t, user)
		shuffled := rapid.Permutation(all).Draw(t, "order")
		again := rapid.SliceOfN(rapid.SampledFrom(all), 0, 4).Draw(t, "again")
		give(t, a, all)
		give(t, b, append(shuffled, again...))
		for i := range 4 {
			id := memoryOf(user, i)
			for _, s := range []*Store{a, b} {
				if err := s.View(t.Context(), func(tx *Tx) error { return checkDerived(tx, id) }); err != nil {
					t.Fatal(err)
				}
			}
			if x, y := encoded(t, a, id), encoded(t, b, id); !bytes.Equal(x, y) {
				t.Fatalf("memory %d:\n%x\n%x", i, x, y)
			}
		}
	})
	sound(t, a)
	sound(t, b)
}

func memoryOf(user, i int) (id memory.ID) { return testID(user*16 + i) }

// drawAssertions makes assertions of three members about four memories in two groups; some are
// about memories that nobody proposed.
func drawAssertions(t *rapid.T, user int) []memory.Assertion {
	acts := []memory.Act{
		memory.ActPropose, memory.ActPropose, memory.ActPropose, memory.ActReinforce, memory.ActCorrect, memory.ActClose,
		memory.ActPin, memory.ActUnpin, memory.ActArchive, memory.ActRestore, memory.ActTag, memory.ActErase,
	}
	var out []memory.Assertion
	for n := range rapid.IntRange(1, 12).Draw(t, "assertions") {
		i := rapid.IntRange(0, 3).Draw(t, "memory")
		minute := rapid.IntRange(0, 5).Draw(t, "minute")
		x := home(minute, memory.MemberID{byte(rapid.IntRange(1, 3).Draw(t, "member"))}, uint64(user*100+n+1),
			rapid.SampledFrom([]string{"Ghent", "Antwerp", "Bruges"}).Draw(t, "city"))
		x.Memory = memoryOf(user, i)
		x.Act = rapid.SampledFrom(acts).Draw(t, "act")
		x.Rank = memory.Rank(rapid.IntRange(1, 3).Draw(t, "rank"))
		x.Candidate.Owner.User = fmt.Sprint(user)
		if i == 3 {
			x.Candidate.Slot = nil
			x.Candidate.Text = "It rains."
		}
		said := noon.Add(time.Duration(minute) * time.Hour)
		switch x.Act {
		case memory.ActReinforce:
			x.Evidence = x.Candidate.Evidence
		case memory.ActCorrect:
			x.Patch = &memory.Patch{Text: &x.Candidate.Text}
		case memory.ActClose:
			x.Patch = &memory.Patch{Validity: &memory.Validity{From: noon, To: said}}
		case memory.ActTag:
			x.Tags = []string{"tag"}
		case memory.ActErase:
			x.Rank = memory.RankPerson
		}
		if x.Act != memory.ActPropose {
			x.Candidate = nil
		}
		out = append(out, x)
	}
	return out
}

// give adds assertions to a store, several in one transaction.
func give(t *rapid.T, s *Store, as []memory.Assertion) {
	for len(as) > 0 {
		n := rapid.IntRange(1, len(as)).Draw(t, "together")
		err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.AssertRemote(as[:n]...); return err })
		if err != nil {
			t.Fatal(err)
		}
		as = as[n:]
	}
}

func encoded(t *rapid.T, s *Store, id memory.ID) (plain []byte) {
	err := s.View(t.Context(), func(tx *Tx) error {
		r, ok, err := load[memoryRecord](tx, memoryKey(id))
		if ok {
			plain = append([]byte(r.Group), r.Memory...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// checkDerived checks that the stored memories follow from all assertions.
func checkDerived(tx *Tx, id memory.ID) error {
	m, ok, err := tx.memory(id)
	if err != nil || !ok {
		return err
	}
	var all []memory.Assertion
	for e, err := range tx.scan(tx.groupPrefix(m.Group), nil, false) {
		if err != nil {
			return err
		}
		as, err := tx.assertionsOf(memory.ID(e.key[1+macSize:]))
		if err != nil {
			return err
		}
		all = append(all, as...)
	}
	for _, want := range tx.store.opt.Derive(all) {
		if want.ID == id {
			x, err1 := encode(want)
			y, err2 := encode(m)
			if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
				return fmt.Errorf("stored %x, derived %x: %v, %v", y, x, err1, err2)
			}
			return nil
		}
	}
	return fmt.Errorf("memory %s is stored, and follows from nothing", id)
}
