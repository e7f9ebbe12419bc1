package cold_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
)

// Who is told of what turns cold and comes back is told within the transaction:
// where it fails, nothing came; what it has wanted back comes in the same round,
// and before everything cold is looked at.
func TestThawedIsToldBeforeAnybodySees(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for n := range byte(3) {
		a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{1}, Seq: uint64(n + 1)}, Clock: memory.Clock{Wall: now.UnixMilli()}, Rank: memory.RankDevice,
			Space: memory.SpaceID{1}, Memory: memory.ID{n + 1}, Act: memory.ActPropose,
			Candidate: &memory.Candidate{Type: memory.Semantic, Text: fmt.Sprintf("Fact %d.", n), Owner: memory.Owner{User: "user"}, Sensitivity: memory.Personal, Confidence: 1}}
		if err := s.Update(ctx, func(tx *store.Tx) error { _, err := tx.AssertRemote(a); return err }); err != nil {
			t.Fatal(err)
		}
	}
	refuses := errors.New("not now")
	why := refuses
	froze := 0
	var thawed []memory.ID
	k := cold.New(cold.Config{Store: s, Shelf: shelf{}, Commit: s.Relieve, Budget: tier.Budget{Bytes: 1},
		Covered: func(context.Context) (uint64, error) { return 1 << 60, nil },
		Froze:   func(_ *store.Tx, as []memory.Assertion) error { froze += len(as); return nil },
		Thawed: func(tx *store.Tx, ids []memory.ID) error {
			for _, id := range ids {
				if _, err := tx.Memory(id); err != nil {
					t.Errorf("told of one that is not here: %v", err)
				}
			}
			if why == nil {
				thawed = append(thawed, ids...)
				return tx.Want(memory.ID{2})
			}
			return why
		}})
	if n, err := k.Cool(ctx); err != nil || n != 3 || froze != 3 {
		t.Fatalf("%d turned cold, told of %d, %v", n, froze, err)
	}
	if _, err := k.Fetch(ctx, memory.ID{1}); !errors.Is(err, refuses) {
		t.Errorf("fetched: %v", err)
	}
	if st, err := k.Status(ctx); err != nil || st.Cold != 3 || st.Fetched != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	why = nil
	if err := s.Update(ctx, func(tx *store.Tx) error { return tx.Want(memory.ID{1}) }); err != nil {
		t.Fatal(err)
	}
	var left []memory.ID
	if missing, err := k.Each(ctx, func(c *store.Cold) error { left = append(left, c.Memory.ID); return nil }); err != nil || missing != 0 {
		t.Errorf("%d are missing, %v", missing, err)
	}
	if !slices.Equal(thawed, []memory.ID{{1}, {2}}) || !slices.Equal(left, []memory.ID{{3}}) {
		t.Errorf("back are %v, and cold %v", thawed, left)
	}
}
