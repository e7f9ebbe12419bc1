package store

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
)

// restToEnd lets s rest until it has nothing left to compact.
func restToEnd(t *testing.T, s *Store) {
	t.Helper()
	for s.compacts {
		if err := s.MaintainCompaction(); err != nil {
			t.Fatal(err)
		}
		if !wait.For(t.Context(), 5*time.Millisecond) {
			t.Fatal("the store did not stop compacting")
		}
	}
}

// hasAll checks that each of the records 0 to n-1 is value.
func hasAll(t *testing.T, s *Store, n int, value []byte) {
	t.Helper()
	err := s.View(t.Context(), func(tx *Tx) error {
		for i := range n {
			var got []byte
			if _, err := tx.Meta(fmt.Sprint(i), &got); err != nil || !bytes.Equal(got, value) {
				return fmt.Errorf("record %d is another: %w", i, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A store starts compactors when tables pile up, and stops them when it has caught
// up. Nothing is lost on the way.
func TestCompactorsOnlyWhenNeeded(t *testing.T) {
	dir, key := t.TempDir(), seal.NewKey()
	s, err := Open(Options{Dir: dir, Key: key, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.compacts {
		t.Fatal("the compactors run at the start, although nothing waits")
	}
	value := make([]byte, 100<<10)
	rand.Read(value)
	n := 0
	for ; !s.compacts; n++ {
		if n == 4*manyTables*memTable/len(value) {
			t.Fatalf("%d tables wait", tablesWaiting(s.db))
		}
		err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) })
		if err != nil {
			t.Fatal(err)
		}
	}
	restToEnd(t, s)
	if waiting := tablesWaiting(s.db); waiting >= fewTables {
		t.Errorf("%d tables wait after a rest", waiting)
	}
	hasAll(t, s, n, value)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.MaintainCompaction(); err != nil {
		t.Errorf("a rest after the end: %v", err)
	}
}

// A small store compacts when FlushAndCompact is called, and not at five tables. FlushAndCompact leaves nothing to
// compact, and loses nothing that was written.
func TestSettle(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir(), Key: seal.NewKey(), Small: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	value := make([]byte, 100<<10)
	rand.Read(value)
	n := 0
	most := 0
	for ; n < 2*fewTables*memTable/len(value); n++ {
		if err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) }); err != nil {
			t.Fatal(err)
		}
		if s.compacts {
			t.Fatal("the compactors started by themselves")
		}
		if !s.NeedsFlush() {
			continue
		}
		most = max(most, tablesWaiting(s.db))
		if err := s.FlushAndCompact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waiting := tablesWaiting(s.db); s.NeedsFlush() || s.compacts || waiting >= fewTables {
			t.Fatalf("unsettled %v, compacts %v, %d tables wait after %d values", s.NeedsFlush(), s.compacts, waiting, n)
		}
	}
	if most < fewTables-1 {
		t.Errorf("never more than %d tables waited", most)
	}
	hasAll(t, s, n, value)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.FlushAndCompact(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// If compaction does not end, FlushAndCompact releases the writer's token after its time limit, and does not
// hold it for as long again. MaintainCompaction completes what FlushAndCompact began.
func TestSettleOverdue(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir(), Key: seal.NewKey(), Small: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	value := make([]byte, 100<<10)
	rand.Read(value)
	write := func(n int) {
		t.Helper()
		if err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) }); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for ; tablesWaiting(s.db) < fewTables-1; n++ {
		write(n)
	}
	if err := s.settle(t.Context(), 0); !errors.Is(err, errOverdue) { // compactors begin within a second
		t.Fatalf("%v, want %v", err, errOverdue)
	}
	write(n)
	if err := s.FlushAndCompact(t.Context()); err != nil || !s.compacts {
		t.Errorf("again: %v, compacts %v", err, s.compacts)
	}
	restToEnd(t, s)
	if s.overdue || tablesWaiting(s.db) >= fewTables {
		t.Errorf("overdue %v, %d tables wait after a rest", s.overdue, tablesWaiting(s.db))
	}
}

// If other programs have filled the disk, nothing is compacted, because that would end the process:
// neither in a rest, nor by a transaction that makes room.
func TestNoCompactionOnAFullDisk(t *testing.T) {
	free := uint64(1 << 40)
	s, err := Open(Options{Dir: t.TempDir(), Key: seal.NewKey(), Small: true, Free: func(string) (uint64, error) { return free, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, value := pile(t, s)
	free = 20 << 20
	if err := s.MaintainCompaction(); err != nil || s.compacts {
		t.Errorf("it compacts in a rest: %v, %v", s.compacts, err)
	}
	if err := s.FlushAndCompact(t.Context()); !errors.Is(err, memory.ErrNoSpace) || s.compacts {
		t.Errorf("it settles: %v, %v", s.compacts, err)
	}
	s.opt.Small, s.opt.Reserve = false, 1<<20 // this compacts sooner
	if err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) }); err != nil || s.compacts {
		t.Errorf("it compacts for a transaction: %v, %v", s.compacts, err)
	}
	hasAll(t, s, n+1, value)
	free = 1 << 40
	if err := s.MaintainCompaction(); err != nil || !s.compacts {
		t.Errorf("there is room, and it compacts not: %v", err)
	}
	restToEnd(t, s)
}

// pile writes records until enough tables wait for a rest to compact them.
func pile(t *testing.T, s *Store) (n int, value []byte) {
	t.Helper()
	value = make([]byte, 100<<10)
	rand.Read(value)
	for ; tablesWaiting(s.db) < fewTables; n++ {
		update(t, s, func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) })
	}
	return n, value
}
