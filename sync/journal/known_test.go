package journal

import (
	"bytes"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// Hundreds of lines of a recording ask one by one whether it is known. This
// must not read all other resources for each. After the recording was
// forgotten, it is no longer known.
func TestSourceOfManyLines(t *testing.T) {
	key, err := seal.KeyFromBytes(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: key, Derive: reconcile.Derive, Diff: reconcile.Diff})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	me, at := memory.MemberID{1}, time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	clock := memory.Ticker{}
	of := func(n int) memory.EventID { return memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n)} }
	for n := range 200 {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			dot, err := tx.NextDot(me)
			if err != nil {
				return err
			}
			c := &memory.Candidate{Type: memory.Resource, Text: "A recording", Owner: memory.Owner{User: "me"}, Confidence: 1, Sensitivity: memory.Personal,
				Evidence: []memory.Evidence{{Event: of(n), At: at}}, Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "A recording", MediaType: "audio/wav"}}}
			_, err = tx.Assert(memory.Assertion{Dot: dot, Clock: clock.Tick(), Rank: memory.RankDevice, Space: memory.SpaceID{2}, Memory: memory.ID{1, byte(n)}, Act: memory.ActPropose, Candidate: c})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	l := &Journal{Store: s}
	first := of(0) // the last one that a search through all resources finds
	err = s.View(t.Context(), func(tx *store.Tx) error {
		k := &lookup{j: l, tx: tx}
		ask := func(before func()) float64 {
			return testing.AllocsPerRun(3, func() {
				before()
				if !k.Source(first) {
					t.Error("Source does not know an event that was applied")
				}
			})
		}
		through, again := ask(func() { l.source.Store(nil); l.sources.Store(nil) }), ask(func() {})
		if again*20 > through {
			t.Errorf("%.0f allocations for the next line, %.0f to go through all", again, through)
		}
		// A worker can name any number of recordings that there are not, and times at which none was made.
		miss := func() float64 {
			n := uint64(1000)
			return testing.AllocsPerRun(20, func() {
				n++
				if k.Source(of(int(n))) || k.Made(first, at.AddDate(5, 0, int(n))) {
					t.Error("one that there is not is known")
				}
				if !k.Source(of(int(n) % 200)) {
					t.Error("one of many is not known")
				}
			})
		}
		if each := miss(); each*5 > through {
			t.Errorf("%.0f allocations for a recording that there is not, %.0f to go through all", each, through)
		}
		return k.err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.Erase(store.Targets{Memories: []memory.ID{{1, 0}}}); err != nil {
			return err
		}
		k := &lookup{j: l, tx: tx}
		if k.Source(first) {
			t.Error("one that was forgotten is known")
		}
		return k.err
	})
	if err != nil {
		t.Fatal(err)
	}
}
