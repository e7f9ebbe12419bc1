package cold_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
)

// shelf keeps packs, as a relay does; one that it lost it does not have.
type shelf map[string][]byte

func (s shelf) Put(_ context.Context, body []byte) ([]byte, error) {
	at := sha256.Sum256(body)
	s[string(at[:])] = body
	return at[:], nil
}

func (s shelf) Get(_ context.Context, at []byte, _ int64) ([]byte, error) {
	body, ok := s[string(at)]
	if !ok {
		return nil, fmt.Errorf("%w: of the test", cold.ErrLost)
	}
	return body, nil
}

func (s shelf) Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error) {
	body, err := s.Get(ctx, at, size)
	if err != nil {
		return nil, err
	}
	return body[from:][:n], nil
}

func (s shelf) Delete(_ context.Context, at []byte) error {
	delete(s, string(at))
	return nil
}

// A pack that is lost does not keep the others away, and whoever waits for what
// is back is asked each time, whether something was wanted or not.
func TestTendGoesOnPastALostPack(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	update := func(fn func(tx *store.Tx) error) {
		t.Helper()
		if err := s.Update(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	sh, asked := shelf{}, 0
	k := cold.New(cold.Config{Store: s, Shelf: sh, Commit: s.Relieve, Back: func(context.Context) error { asked++; return nil }})
	const packs = 6
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for n := range byte(packs) {
		id := memory.ID{n + 1}
		a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{1}, Seq: uint64(n + 1)}, Clock: memory.Clock{Wall: now.UnixMilli()}, Rank: memory.RankDevice,
			Space: memory.SpaceID{1}, Memory: id, Act: memory.ActPropose, Source: memory.Source{Device: "pin", Plugin: "facts"},
			Candidate: &memory.Candidate{Type: memory.Semantic, Text: fmt.Sprintf("Fact %d.", n), Owner: memory.Owner{User: "user"}, Confidence: 0.8,
				Fields: memory.Fields{Semantic: &memory.SemanticFields{Name: "fact"}}, Sensitivity: memory.Personal, TrueFrom: now,
				Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n + 1)}, Speaker: "user", At: now, Excerpt: "A fact."}}}}
		update(func(tx *store.Tx) error { _, err := tx.AssertRemote(a); return err })
		c := store.Cooling{Covered: 1 << 60}
		var p *store.Packed
		if err := s.View(ctx, func(tx *store.Tx) (err error) { p, err = tx.MakePack([]memory.ID{id}, c); return err }); err != nil || p.Count != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
		at, _ := sh.Put(ctx, p.Body)
		update(func(tx *store.Tx) error { _, err := tx.Freeze(p, at, c); return err })
		if n == 0 {
			delete(sh, string(at))
		}
		update(func(tx *store.Tx) error { return tx.Want(id) })
	}
	if err := k.Tend(ctx); !errors.Is(err, cold.ErrLost) {
		t.Errorf("tended: %v", err)
	}
	if st, err := k.Status(ctx); err != nil || st.Cold != 1 || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", st, err, asked)
	}
	update(func(tx *store.Tx) error { return tx.EraseRemote(store.Targets{Memories: []memory.ID{{1}}}) })
	if err := k.Tend(ctx); err != nil || asked != 2 {
		t.Errorf("nothing is wanted: asked %d times, %v", asked, err)
	}
}

// Nothing turns cold while someone holds.
func TestHold(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for n := range byte(12) {
		a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{1}, Seq: uint64(n + 1)}, Clock: memory.Clock{Wall: now.UnixMilli()}, Rank: memory.RankDevice,
			Space: memory.SpaceID{1}, Memory: memory.ID{n + 1}, Act: memory.ActPropose,
			Candidate: &memory.Candidate{Type: memory.Semantic, Text: fmt.Sprintf("Fact %d.", n), Owner: memory.Owner{User: "user"}, Sensitivity: memory.Personal, Confidence: 1}}
		if err := s.Update(ctx, func(tx *store.Tx) error { _, err := tx.AssertRemote(a); return err }); err != nil {
			t.Fatal(err)
		}
	}
	k := cold.New(cold.Config{Store: s, Shelf: shelf{}, Commit: s.Relieve, Budget: tier.Budget{Records: 3},
		Covered: func(context.Context) (uint64, error) { return 1 << 60, nil }})
	release := k.Hold()
	if n, err := k.Cool(ctx); n != 0 || err != nil {
		t.Errorf("%d turned cold, %v", n, err)
	}
	release()
	if n, err := k.Cool(ctx); n == 0 || err != nil {
		t.Errorf("%d turned cold afterwards, %v", n, err)
	}
}
