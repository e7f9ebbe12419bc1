package cold_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
)

// now is the time of everything that is said in these tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func openStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func update(t *testing.T, s *store.Store, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// say makes a device say a fact, with its own sequence number.
func say(t *testing.T, s *store.Store, id memory.ID, number uint64, text string) {
	t.Helper()
	a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{1}, Seq: number}, Clock: memory.Clock{Wall: now.UnixMilli()}, Rank: memory.RankDevice,
		Space: memory.SpaceID{1}, Memory: id, Act: memory.ActPropose,
		Candidate: &memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: "user"}, Sensitivity: memory.Personal, Confidence: 1}}
	update(t, s, func(tx *store.Tx) error { _, err := tx.AssertRemote(a); return err })
}

// sayFacts makes a device say n facts, whose ids begin with 1 to n.
func sayFacts(t *testing.T, s *store.Store, n byte) {
	t.Helper()
	for i := range n {
		say(t, s, memory.ID{i + 1}, uint64(i+1), fmt.Sprintf("Fact %d.", i))
	}
}

// everything is the position up to which the index's segments contain
// everything.
const everything = 1 << 60

func covered(context.Context) (uint64, error) { return everything, nil }

// freeze turns memories cold, in one pack, and returns its name in the pack
// store.
func freeze(t *testing.T, s *store.Store, sh cold.PackStore, ids ...memory.ID) (at []byte) {
	t.Helper()
	c := store.Cooling{Covered: everything}
	var p *store.Packed
	if err := s.View(t.Context(), func(tx *store.Tx) (err error) { p, err = tx.MakePack(ids, c); return err }); err != nil || p.Count != len(ids) {
		t.Fatalf("%+v, %v", p, err)
	}
	at, err := sh.Put(t.Context(), p.Body)
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *store.Tx) error { _, err := tx.Freeze(p, at, c); return err })
	return at
}

// packStore stores packs, as a relay does; a lost one is missing.
type packStore map[string][]byte

func (s packStore) Put(_ context.Context, body []byte) ([]byte, error) {
	at := sha256.Sum256(body)
	s[string(at[:])] = body
	return at[:], nil
}

func (s packStore) Get(_ context.Context, at []byte, _ int64) ([]byte, error) {
	body, ok := s[string(at)]
	if !ok {
		return nil, fmt.Errorf("%w: of the test", cold.ErrLost)
	}
	return body, nil
}

func (s packStore) Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error) {
	body, err := s.Get(ctx, at, size)
	if err != nil {
		return nil, err
	}
	return body[from:][:n], nil
}

func (s packStore) Delete(_ context.Context, at []byte) error {
	delete(s, string(at))
	return nil
}
