package store

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// packAll packs all utterances from before a time that can be packed.
func packAll(tb testing.TB, s *Store, before time.Time, covered uint64) (packed int) {
	for since, more := (time.Time{}), true; more; {
		err := s.Update(context.Background(), func(tx *Tx) error {
			n, next, err := tx.PackUtterances(since, before, covered)
			packed += n
			since, more = next, !next.IsZero()
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return packed
}

// heard returns the nth utterance; every third belongs to the same event as the one before it.
func heard(n int, text string) *memory.Utterance {
	return &memory.Utterance{ID: testID(n), Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n - n%3/2)}, Session: "s", At: noon.Add(time.Duration(n/4) * time.Second),
		Received: noon.Add(time.Duration(n) * time.Second), Zone: "Asia/Shanghai", Speaker: "Mei", Lang: "en", Text: text, Metadata: memory.Metadata{"n": fmt.Sprint(n)}}
}

var pageSeeds = flag.Uint64("pages.seeds", 6, "how many times packed and loose utterances are compared")

// never is greater than any number in the document log.
const never = math.MaxUint64

// all returns everything that a store says about utterances, as text.
func all(tb testing.TB, s *Store) string {
	var out struct {
		ByTime, Between, ByID []*memory.Utterance
		OfEvent               [][]*memory.Utterance
		One                   []string
		Pending               []Document
		Waiting, Unposted     []memory.ID
	}
	err := s.View(context.Background(), func(tx *Tx) error {
		gather := func(to *[]*memory.Utterance, look func(func(*memory.Utterance, error) bool)) error {
			for u, err := range look {
				if err != nil {
					return err
				}
				*to = append(*to, u)
			}
			return nil
		}
		err := errors.Join(gather(&out.ByTime, tx.Utterances(time.Time{}, time.Time{})), gather(&out.ByID, tx.UtterancesByID()),
			gather(&out.Between, tx.Utterances(noon.Add(5*time.Second), noon.Add(20*time.Second))))
		for n := range 140 {
			u, e := tx.Utterance(testID(n))
			out.One = append(out.One, fmt.Sprint(u, errors.Is(e, memory.ErrNotFound)))
			var of []*memory.Utterance
			err = errors.Join(err, gather(&of, tx.UtterancesOf(memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n)})))
			out.OfEvent = append(out.OfEvent, of)
		}
		last := uint64(0)
		for d, err := range tx.IndexPending(0) {
			if err != nil {
				return err
			}
			if d.Seq <= last {
				return fmt.Errorf("document %d after %d", d.Seq, last)
			}
			last, d.Seq = d.Seq, 0
			out.Pending = append(out.Pending, d)
		}
		for o, err := range tx.Outbox(0) {
			if err != nil {
				return err
			}
			if o.Utterance != nil {
				out.Waiting = append(out.Waiting, o.Utterance.ID)
			}
		}
		for o, err := range tx.Unposted() {
			if err != nil {
				return err
			}
			out.Unposted = append(out.Unposted, o.Utterance.ID)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.SortStableFunc(out.Pending, func(a, b Document) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	slices.SortFunc(out.Unposted, func(a, b memory.ID) int { return strings.Compare(a.String(), b.String()) })
	b, err := json.Marshal(out)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// A store returns the same utterances whether they are packed or not, whatever happens to them in
// between.
func TestPackedUtterancesReadTheSame(t *testing.T) {
	for seed := range *pageSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			packedIsAsLoose(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

func packedIsAsLoose(t *testing.T, r *rand.Rand) {
	a, b := open(t, t.TempDir()), open(t, t.TempDir())
	both := func(fn func(tx *Tx) error) {
		t.Helper()
		update(t, a, fn)
		update(t, b, fn)
	}
	for range 30 {
		n := r.IntN(140)
		switch r.IntN(10) {
		case 0, 1:
			k := 1 + r.IntN(90)
			both(func(tx *Tx) error {
				for i := n; i < min(n+k, 140); i++ {
					if err := tx.PutUtterance(heard(i, strings.Repeat(fmt.Sprint("said ", i, " "), 1+i%40))); err != nil {
						return err
					}
				}
				return nil
			})
		case 2:
			u := heard(n, "from afar")
			u.Redacted = r.IntN(3)
			u.At = u.At.Add(time.Duration(r.IntN(2)) * time.Minute)
			both(func(tx *Tx) error { return tx.PutRemoteUtterance(u) })
		case 3:
			both(func(tx *Tx) error { return tx.Erase(Targets{Utterances: []memory.ID{testID(n)}}) })
		case 4:
			both(func(tx *Tx) error { return tx.ExpireUtterance(testID(n)) })
		case 5:
			both(func(tx *Tx) error { _, err := tx.ResendUtterance(testID(n)); return err })
		case 6:
			both(func(tx *Tx) error { return tx.sentUpTo(tx.LastPosted()) })
		case 7: // the same again, during a scan
			both(func(tx *Tx) error {
				for u, err := range tx.Utterances(noon.Add(time.Duration(n/8)*time.Second), time.Time{}) {
					if err != nil {
						return err
					}
					u.Text, u.Redacted = "[taken out]", u.Redacted+1
					if err := tx.PutUtterance(u); err != nil {
						return err
					}
				}
				return nil
			})
		case 8:
			if r.IntN(2) == 0 {
				if err := a.Compact(context.Background()); err != nil {
					t.Fatal(err)
				}
			} else {
				a = reopen(t, a)
			}
		case 9:
			packAll(t, a, noon.Add(time.Duration(n)*time.Second/2), never)
		}
	}
	packAll(t, a, noon.Add(time.Hour), never)
	if x, y := all(t, a), all(t, b); x != y {
		t.Fatalf("packed:\n%s\nloose:\n%s", x, y)
	}
	sound(t, a)
}

func TestLinesThatAreNotPacked(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		early := heard(4, "before the epoch")
		early.At = time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)
		return errors.Join(tx.PutRemoteUtterance(heard(1, "one")), tx.PutUtterance(heard(2, "not sent yet")),
			tx.PutRemoteUtterance(heard(3, strings.Repeat("long ", 4000))), tx.PutRemoteUtterance(early), tx.PutRemoteUtterance(heard(60, "late")))
	})
	var covered uint64
	view(t, s, func(tx *Tx) error {
		r, _, _, err := tx.utteranceRecord(testID(60))
		covered = r.Document
		return err
	})
	update(t, s, func(tx *Tx) error { return tx.PutRemoteUtterance(heard(5, "not in the index")) })
	if n := packAll(t, s, noon.Add(15*time.Second), covered); n != 2 {
		t.Errorf("%d packed, want the first two", n)
	}
	view(t, s, func(tx *Tx) error {
		for n, want := range map[int]bool{1: true, 2: true, 3: false, 4: false, 5: false, 60: false} {
			if _, packed, ok, err := tx.utteranceRecord(testID(n)); err != nil || !ok || packed != want {
				t.Errorf("utterance %d: packed %v, %v, %v", n, packed, ok, err)
			}
		}
		return nil
	})
	// An index that has less than its segments had finds it.
	view(t, s, func(tx *Tx) error {
		if d := collect(t, tx.IndexPending(0)); len(d) != 6 || d[0].ID != testID(1) {
			t.Errorf("from the first on: %v", d)
		}
		if d := collect(t, tx.IndexPending(1)); len(d) != 5 {
			t.Errorf("from the second on: %v", d)
		}
		return nil
	})
}

// No page on the disk has anything left of an utterance that was erased or replaced.
func TestErasedLinesLeaveNoPage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	update(t, s, func(tx *Tx) error {
		var errs []error
		for n := range 100 {
			errs = append(errs, tx.PutRemoteUtterance(heard(n, fmt.Sprint("I live in ", sentinel, " street, ", n))))
		}
		return errors.Join(errs...)
	})
	if n := packAll(t, s, noon.Add(time.Hour), never); n != 100 {
		t.Fatalf("%d packed", n)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	look := func() (n int) {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		defer func() { s = open(t, dir) }()
		err := FindRemnants(dir, testKey(), func(r Remnant) error {
			n += strings.Count(string(r.Data), sentinel)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := look(); n != 100 {
		t.Fatalf("%d found before", n)
	}
	update(t, s, func(tx *Tx) error {
		errs := []error{tx.ExpireUtterance(testID(0)), tx.Erase(Targets{Utterances: []memory.ID{testID(1), testID(2), testID(99)}})}
		for n := 3; n < 99; n++ {
			u := heard(n, "I live in [address]")
			u.Redacted = 1
			errs = append(errs, tx.PutUtterance(u))
		}
		return errors.Join(errs...)
	})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := look(); n != 0 {
		t.Errorf("%d left", n)
	}
	view(t, s, func(tx *Tx) error {
		if n := len(collect(t, tx.scan(keyOf(kindLines), nil, false))); n != 0 {
			t.Errorf("%d pages are left", n)
		}
		return nil
	})
}
