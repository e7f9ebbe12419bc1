package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

var (
	noon  = time.Date(2026, 3, 14, 12, 0, 0, 0, time.FixedZone("CET", 3600))
	space = memory.SpaceID{1, 2, 3}
	me    = memory.MemberID{0xaa}
	you   = memory.MemberID{0xbb}
)

func testKey() *seal.Key {
	k, err := seal.KeyFromBytes(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		panic(err)
	}
	return k
}

func testOptions(dir string) Options {
	return Options{Dir: dir, Key: testKey(), Derive: reconcile.Derive, Diff: reconcile.Diff}
}

func open(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := Open(testOptions(dir))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func reopen(tb testing.TB, s *Store) *Store {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return open(tb, s.opt.Dir)
}

func update(tb testing.TB, s *Store, fn func(t *Tx) error) {
	tb.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func view(tb testing.TB, s *Store, fn func(t *Tx) error) {
	tb.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func sound(tb testing.TB, s *Store) {
	tb.Helper()
	found, err := s.Verify(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range found {
		tb.Errorf("damaged: %s", d.Error())
	}
}

func testID(n int) (id memory.ID) {
	copy(id[:], "an id for a test")
	binary.BigEndian.PutUint32(id[:], uint32(n)*2654435761) // spread, so that prefixes differ
	binary.BigEndian.PutUint32(id[4:], uint32(n))
	return id
}

func clockOf(n int) memory.Clock {
	return memory.Clock{Wall: noon.Add(time.Duration(n) * time.Minute).UnixMilli()}
}

func evidence(n int, excerpt string) memory.Evidence {
	return memory.Evidence{
		Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n)}, Speaker: "user",
		At: noon.Add(time.Duration(n) * time.Minute), Excerpt: excerpt,
	}
}

// home proposes where the wearer lives: a slot with one value at a time.
func home(n int, member memory.MemberID, seq uint64, city string) memory.Assertion {
	return memory.Assertion{
		Dot: memory.Dot{Member: member, Seq: seq}, Clock: clockOf(n), Rank: memory.RankDevice, Space: space,
		Memory: testID(n), Act: memory.ActPropose, Source: memory.Source{Device: "pin", Plugin: "facts"},
		Candidate: &memory.Candidate{
			Type: memory.Semantic, Text: "The user lives in " + city + ".", Owner: memory.Owner{User: "user"},
			Slot:     &memory.Slot{Subject: "user", Attribute: "home", Value: city},
			Fields:   memory.Fields{Semantic: &memory.SemanticFields{Name: "home"}},
			Evidence: []memory.Evidence{evidence(n, "I live in "+city)}, Confidence: 0.8, Sensitivity: memory.Personal,
			TrueFrom: noon.Add(time.Duration(n) * time.Minute),
		},
	}
}

// fact proposes a statement that stands by itself.
func fact(n int, member memory.MemberID, seq uint64, text string) memory.Assertion {
	a := home(n, member, seq, "")
	a.Candidate.Text, a.Candidate.Slot = text, nil
	a.Candidate.Evidence[0].Excerpt = text
	return a
}

func act(n int, member memory.MemberID, seq uint64, act memory.Act) memory.Assertion {
	return memory.Assertion{
		Dot: memory.Dot{Member: member, Seq: seq}, Clock: clockOf(1000 + int(seq)), Rank: memory.RankPerson,
		Space: space, Memory: testID(n), Act: act, Source: memory.Source{Plugin: "person"},
	}
}

func collect[T any](tb testing.TB, seq func(func(T, error) bool)) []T {
	tb.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func TestInUse(t *testing.T) {
	s := open(t, t.TempDir())
	_, err := Open(testOptions(s.opt.Dir))
	if !errors.Is(err, memory.ErrInUse) || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("second open: %v", err)
	}
	s = reopen(t, s)
	sound(t, s)
}

func TestWrongKey(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	opt := testOptions(s.opt.Dir)
	opt.Key = seal.NewKey()
	if _, err := Open(opt); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("open: %v", err)
	}
	sound(t, open(t, s.opt.Dir))
}

func TestReserve(t *testing.T) {
	opt := testOptions(t.TempDir())
	free := uint64(200 << 20)
	opt.Reserve, opt.Free = 100<<20, func(string) (uint64, error) { return free, nil }
	s, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	free = 100<<20 - 1
	ran := false
	err = s.Update(t.Context(), func(*Tx) error { ran = true; return nil })
	if !errors.Is(err, memory.ErrNoSpace) || ran {
		t.Errorf("update: %v, ran: %v", err, ran)
	}
	if _, err := s.WriteBlob(t.Context(), strings.NewReader("x")); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("blob: %v", err)
	}
	if files, err := os.ReadDir(filepath.Join(opt.Dir, blobsName)); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if err := s.UpdateInReserve(t.Context(), func(tx *Tx) error { return tx.DeleteMeta("x") }); err != nil {
		t.Errorf("what makes room: %v", err)
	}
	free = leastRoom
	if err := s.Compact(t.Context()); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("compact: %v", err)
	}
	free = leastRoom - 1
	if err := s.UpdateInReserve(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("what makes room, without any: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, free = range []uint64{1 << 20, 10 << 20, 50 << 20} { // below the reserve, existing data can be read
		if s, err = Open(opt); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		view(t, s, func(*Tx) error { return nil })
		if err := s.Update(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, memory.ErrNoSpace) {
			t.Errorf("update with %d bytes free: %v", free, err)
		}
		if free < leastRoom {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	free = leastRoom // not enough for a copy of the records
	if err := s.Compact(t.Context()); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("compact: %v", err)
	}
	free = 200 << 20
	update(t, s, func(tx *Tx) error { return tx.SetCursor("journal", 5) })
	err = s.Update(t.Context(), func(tx *Tx) error { // other programs fill the disk meanwhile
		free = leastRoom - 1
		return tx.SetCursor("journal", 6)
	})
	if !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("a disk that was filled during a transaction: %v", err)
	}
	view(t, s, func(tx *Tx) error {
		if n, err := tx.Cursor("journal"); n != 5 || err != nil {
			t.Errorf("the cursor is at %d: %v", n, err)
		}
		return nil
	})
}

func TestContextAndClose(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Update(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.Update(context.Background(), func(*Tx) error { close(held); <-release; return nil })
	}()
	<-held
	ctx, cancel = context.WithCancel(context.Background())
	waiting := make(chan error)
	go func() { waiting <- s.Update(ctx, func(*Tx) error { return nil }) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("update behind another: %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := s.View(t.Context(), func(tx *Tx) error { return tx.SetCursor("x", 1) }); err == nil {
		t.Error("a View wrote")
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if err := s.Update(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	s := open(t, t.TempDir())
	var within error // before all of them are in memory
	err := s.Update(t.Context(), func(tx *Tx) error {
		for i := 0; i < 20_000 && within == nil; i++ {
			within = tx.SetCursor(strconv.Itoa(i), 1)
		}
		return within
	})
	if !errors.Is(err, ErrTooLarge) || !errors.Is(within, ErrTooLarge) {
		t.Errorf("many records: %v, and within the transaction %v", err, within)
	}
	err = s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta("x", strings.Repeat("x", maxValue)) })
	if !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a large value: %v", err)
	}
	update(t, s, func(tx *Tx) error { // what the comment on Update promises
		for i := range 200 {
			if _, err := tx.Assert(fact(i, me, uint64(i+1), "Fact number "+strconv.Itoa(i)+".")); err != nil {
				return err
			}
		}
		return nil
	})
	sound(t, s)
}
