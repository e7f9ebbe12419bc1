package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// memSegments holds the segments of an index in memory.
type memSegments map[string][]byte

func (s memSegments) Put(_ context.Context, name string, b []byte) error {
	s[name] = slices.Clone(b)
	return nil
}

func (s memSegments) Get(_ context.Context, name string) ([]byte, error) {
	if b, ok := s[name]; ok {
		return b, nil
	}
	return nil, memory.ErrNotFound
}

func (s memSegments) List(context.Context) (names []string, err error) {
	for n := range s {
		names = append(names, n)
	}
	return names, nil
}

func (s memSegments) Delete(_ context.Context, name string) error { delete(s, name); return nil }

// newEngine returns an engine over a store of its own, and its index.
func newEngine(t *testing.T, check func(context.Context, *store.Tx) (func(context.Context, *Writer) error, error)) (*Engine, *recall.Index) {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	ix, err := recall.Open(t.Context(), memSegments{}, recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(ix.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return New(Config{Space: memory.SpaceID{1}, Member: memory.MemberID{1}, Store: st, Index: ix, Clock: new(memory.Ticker), Check: check}), ix
}

func proposal(id byte, text string) memory.Assertion {
	return memory.Assertion{Memory: memory.ID{id}, Act: memory.ActPropose,
		Candidate: &memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: "user"}, Sensitivity: memory.Personal, Confidence: 1}}
}

func found(t *testing.T, e *Engine, text string) (ids []memory.ID) {
	t.Helper()
	res, err := e.Search(t.Context(), recall.Query{Text: text, K: 5, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range res.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

// What is said is found at once, and each assertion has its own dot, even if several speak at the
// same time.
func TestCommitUpdatesTheIndex(t *testing.T) {
	e, _ := newEngine(t, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			err := e.Commit(t.Context(), func(tx *store.Tx) error {
				_, err := e.AssertTx(tx, memory.RankDevice, proposal(byte(i+1), "The kettle is blue."))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := found(t, e, "kettle"); len(got) == 0 {
		t.Error("nothing is found")
	}
	dots := map[memory.Dot]bool{}
	err := e.View(t.Context(), func(tx *store.Tx) error {
		for a, err := range tx.AllAssertions() {
			if err != nil {
				return err
			}
			dots[a.Dot] = a.Dot.Member == e.Member() && a.Space == e.Space()
		}
		return nil
	})
	if err != nil || len(dots) != 8 {
		t.Errorf("%v, %v", dots, err)
	}
	for d, mine := range dots {
		if !mine {
			t.Errorf("%v is not the member's", d)
		}
	}
}

// Check decides last: what it refuses is neither written nor found, what it changes belongs to the
// same transaction, and what it asks for runs afterwards.
func TestCheckIsPartOfTheCommit(t *testing.T) {
	bad, after := errors.New("it holds a secret"), 0
	e, _ := newEngine(t, func(_ context.Context, tx *store.Tx) (func(context.Context, *Writer) error, error) {
		for _, d := range tx.FromOthers() {
			m, err := tx.Memory(d.ID)
			if err != nil {
				return nil, err
			}
			switch m.Text {
			case "refuse":
				return nil, bad
			case "erase":
				if err := tx.Erase(store.Targets{Memories: []memory.ID{d.ID}}); err != nil {
					return nil, err
				}
				return func(ctx context.Context, w *Writer) error {
					after++
					return w.Commit(ctx, func(*store.Tx) error { return nil })
				}, nil
			}
		}
		return nil, nil
	})
	say := func(rank memory.Rank, id byte, text string) error {
		return e.Commit(t.Context(), func(tx *store.Tx) error { _, err := e.AssertTx(tx, rank, proposal(id, text)); return err })
	}
	if err := say(memory.RankCloud, 1, "refuse"); !errors.Is(err, bad) {
		t.Errorf("refused: %v", err)
	}
	if err := say(memory.RankCloud, 2, "erase"); err != nil || after != 1 {
		t.Errorf("erased: %v, %d", err, after)
	}
	if got := slices.Concat(found(t, e, "refuse"), found(t, e, "erase")); len(got) > 0 {
		t.Errorf("found: %v", got)
	}
	if err := say(memory.RankDevice, 3, "refuse"); err != nil || len(found(t, e, "refuse")) != 1 {
		t.Errorf("a device's own word is not looked at: %v", err)
	}
	err := e.View(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Memory(memory.ID{1}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("refused, and here: %v", err)
		}
		if gone, err := tx.Erased(memory.ID{2}); err != nil || !gone {
			t.Errorf("erased: %v, %v", gone, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Changes that were committed but not told to the index, as after a crash, are caught up.
func TestCatchUp(t *testing.T) {
	e, ix := newEngine(t, nil)
	if err := e.c.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := e.AssertTx(tx, memory.RankDevice, proposal(1, "The kettle is blue."))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := found(t, e, "kettle"); len(got) != 0 {
		t.Fatalf("found: %v", got)
	}
	if err := e.CatchUp(t.Context()); err != nil || len(found(t, e, "kettle")) != 1 {
		t.Errorf("%v", err)
	}
	w := e.AcquireWriter()
	defer w.Release()
	if err := w.Flush(t.Context()); err != nil || ix.Covered() == 0 {
		t.Errorf("flushed: %v, up to %d", err, ix.Covered())
	}
}

// A memory that returns as it was when it turned cold is not indexed again, unless the index lacks
// it.
func TestUnchangedMemoryIsNotIndexedAgain(t *testing.T) {
	e, ix := newEngine(t, nil)
	if err := e.c.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := e.AssertTx(tx, memory.RankDevice, proposal(7, "The kettle is blue."))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	added := 0
	ix.Watch(func(ids, _ []memory.ID) { added += len(ids) })
	same := store.Document{Kind: store.MemoryDocument, ID: memory.ID{7}, Same: true}
	changed := store.Document{Kind: store.MemoryDocument, ID: memory.ID{7}}
	for i, step := range []struct {
		d    store.Document
		want int // documents added so far
	}{{same, 1}, {same, 1}, {changed, 2}} {
		if err := e.index(t.Context(), []store.Document{step.d}); err != nil {
			t.Fatal(err)
		}
		if added != step.want || !ix.Has(memory.ID{7}) {
			t.Errorf("step %d: %d were added, want %d", i, added, step.want)
		}
	}
}
