package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Two lives of one store never use a dot twice, whether they know of each other or not; within one
// life, dots are consecutive, even across failed transactions.
func TestDotsOfTwoLivesDiffer(t *testing.T) {
	dir := t.TempDir()
	given := map[memory.Dot]bool{}
	for life := range 4 { // the store forgets each life, as if restored from an earlier backup
		s := open(t, filepath.Join(dir, string(rune('a'+life))))
		var last memory.Dot
		for i := range 6 {
			err := s.Update(t.Context(), func(tx *Tx) error {
				d, err := tx.NextDot(me)
				if err != nil || i%3 == 1 {
					return errNoDerive // any error: the transaction is rolled back
				}
				if given[d] || i > 0 && d.Seq != last.Seq+1 {
					t.Errorf("life %d: %v after %v", life, d, last)
				}
				given[d], last = true, d
				_, err = tx.Assert(home(60+i, me, d.Seq, "Ghent"))
				return err
			})
			if (err != nil) != (i%3 == 1) {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A life consists of a time and a random part; a clock that is far off is replaced by the nearest
// time that fits. When a life has no numbers left, another one begins.
func TestLives(t *testing.T) {
	for at, want := range map[time.Time]uint64{
		firstHour.Add(-time.Hour):                0,
		firstHour.Add(90 * time.Minute):          1,
		firstHour.AddDate(300, 0, 0):             1<<hourBits - 1,
		firstHour.Add(24 * 365 * 50 * time.Hour): 24 * 365 * 50,
	} {
		if life := newLife(at); life>>chanceBits != want || life == 0 || life<<countBits >= 1<<53 {
			t.Errorf("%s: %d, want hour %d", at, life, want)
		}
	}
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		first, err := tx.NextDot(me)
		if err != nil {
			return err
		}
		tx.dots[me] = first.Seq | maxCount
		next, err := tx.NextDot(me)
		if next.Seq>>countBits == first.Seq>>countBits || next.Seq&maxCount != 1 {
			t.Errorf("after a full life, of %d: %d", first.Seq, next.Seq)
		}
		return err
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Only one of all the lives of this hour has no known number.
func TestLivesAreUnique(t *testing.T) {
	s := open(t, t.TempDir())
	hour, id := newLife(time.Now())>>chanceBits, testID(1)
	for chance := uint64(0); chance < 1<<chanceBits; chance += 1000 {
		update(t, s, func(tx *Tx) error {
			for c := chance; c < min(chance+1000, 1<<chanceBits); c++ {
				d := memory.Dot{Member: me, Seq: (hour<<chanceBits|c)<<countBits | 5}
				if c == 7 {
					continue
				}
				if err := tx.put(keyOf(kindDot, dotKey(d)), id[:]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	update(t, s, func(tx *Tx) error {
		d, err := tx.NextDot(me)
		if d.Seq&maxCount != 1 {
			t.Errorf("the next dot is %d, of a life that was used", d.Seq)
		}
		return err
	})
}

// A dot that is marked as used does not prevent the assertion with this dot from being taken.
func TestMarkedDotIsAccepted(t *testing.T) {
	s := open(t, t.TempDir())
	a := home(1, memory.MemberID{9}, 7, "Ghent")
	update(t, s, func(tx *Tx) error {
		if err := tx.MarkDotUsed(a.Dot); err != nil {
			return err
		}
		_, err := tx.AssertRemote(a)
		return err
	})
	b := home(2, memory.MemberID{9}, 7, "Bruges")
	b.Memory = testID(2)
	view(t, s, func(tx *Tx) error {
		if as, err := tx.Assertions(a.Memory); err != nil || len(as) != 1 {
			t.Errorf("%d assertions, %v", len(as), err)
		}
		return nil
	})
	if err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.AssertRemote(b); return err }); err == nil {
		t.Error("another with its number was taken, too")
	}
}
