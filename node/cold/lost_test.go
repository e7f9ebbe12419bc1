package cold_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
)

// counting counts the bytes that a shelf gives.
type counting struct {
	shelf
	given int
}

func (c *counting) Get(ctx context.Context, at []byte, size int64) ([]byte, error) {
	b, err := c.shelf.Get(ctx, at, size)
	c.given += len(b)
	return b, err
}

func (c *counting) Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error) {
	b, err := c.shelf.Piece(ctx, at, from, n, size)
	c.given += len(b)
	return b, err
}

// freezePack turns 40 memories cold, in a pack of some 40 KB.
func freezePack(t *testing.T, s *store.Store, sh cold.Shelf, number byte) (at []byte, ids []memory.ID) {
	t.Helper()
	ctx, now := t.Context(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rng := rand.New(rand.NewPCG(uint64(number), 1))
	for n := range byte(40) {
		noise := make([]byte, 500)
		for i := range noise {
			noise[i] = byte(rng.UintN(256))
		}
		id := memory.ID{number + 1, n + 1}
		a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{1}, Seq: uint64(number)*100 + uint64(n) + 1}, Clock: memory.Clock{Wall: now.UnixMilli()}, Rank: memory.RankDevice,
			Space: memory.SpaceID{1}, Memory: id, Act: memory.ActPropose,
			Candidate: &memory.Candidate{Type: memory.Semantic, Text: fmt.Sprintf("Fact %d-%d %s", number, n, hex.EncodeToString(noise)), Owner: memory.Owner{User: "user"}, Sensitivity: memory.Personal, Confidence: 1}}
		if err := s.Update(ctx, func(tx *store.Tx) error { _, err := tx.AssertRemote(a); return err }); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	c := store.Cooling{Covered: 1 << 60}
	var p *store.Packed
	if err := s.View(ctx, func(tx *store.Tx) (err error) { p, err = tx.MakePack(ids, c); return err }); err != nil || p.Count != len(ids) {
		t.Fatalf("%+v, %v", p, err)
	}
	at, err := sh.Put(ctx, p.Body)
	if err == nil {
		err = s.Update(ctx, func(tx *store.Tx) error { _, err := tx.Freeze(p, at, c); return err })
	}
	if err != nil {
		t.Fatal(err)
	}
	return at, ids
}

// To see which packs the shelf has lost does not take all of them; of one that
// could not be read once, all of it is looked at, after a restart, too.
func TestLostWithoutFetchingAll(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sh := &counting{shelf: shelf{}}
	var at [][]byte
	var first []memory.ID
	total := 0
	for n := range byte(4) {
		name, ids := freezePack(t, s, sh, n)
		at, total = append(at, name), total+len(sh.shelf[string(name)])
		if n == 0 {
			first = ids
		}
	}
	keeper := func() *cold.Keeper { return cold.New(cold.Config{Store: s, Shelf: sh, Commit: s.Relieve}) }
	sh.given = 0
	if lost, err := keeper().Lost(ctx); err != nil || len(lost) > 0 {
		t.Fatalf("of a sound shelf: %v, %v", lost, err)
	}
	if sh.given == 0 || sh.given > total/3 {
		t.Errorf("%d bytes of %d were fetched to see that they are there", sh.given, total)
	}
	delete(sh.shelf, string(at[2]))
	body := slices.Clone(sh.shelf[string(at[3])])
	for i := range body {
		body[i] ^= 1
	}
	sh.shelf[string(at[3])] = body
	lost, err := keeper().Lost(ctx)
	if err != nil || len(lost) != 2 {
		t.Fatalf("one is gone, one altered: %v, %v", lost, err)
	}
	// Harm to the first that a sample misses; whoever reads it notices.
	broken := &lying{counting: sh, at: string(at[0])}
	k := cold.New(cold.Config{Store: s, Shelf: broken, Commit: s.Relieve})
	if _, err := k.Fetch(ctx, first[0]); !errors.Is(err, cold.ErrLost) {
		t.Fatal(err)
	}
	k = cold.New(cold.Config{Store: s, Shelf: broken, Commit: s.Relieve})
	if lost, err := k.Lost(ctx); err != nil || len(lost) != 3 {
		t.Errorf("one that could not be read before: %v, %v", lost, err)
	}
	// It was the way to it alone that was broken.
	if lost, err := keeper().Lost(ctx); err != nil || len(lost) != 2 {
		t.Errorf("afterwards: %v, %v", lost, err)
	}
}

// lying has every piece of a pack, and never the whole of it.
type lying struct {
	*counting
	at string
}

func (l *lying) Get(ctx context.Context, at []byte, size int64) ([]byte, error) {
	if string(at) == l.at {
		return nil, fmt.Errorf("%w: of the test", cold.ErrLost)
	}
	return l.counting.Get(ctx, at, size)
}
