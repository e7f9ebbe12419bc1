package cold_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
)

// What was replaced leaves the disk without anything turning cold.
func TestCompactWhatWasReplaced(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	value := make([]byte, 150<<10)
	for range 100 { // the same value, again and again
		rand.Read(value)
		if err := s.Update(ctx, func(tx *store.Tx) error { return tx.PutMeta("large", value) }); err != nil {
			t.Fatal(err)
		}
	}
	tend := func(b tier.Budget) uint64 {
		t.Helper()
		k := cold.New(cold.Config{Store: s, Shelf: shelf{}, Commit: s.Relieve, Budget: b, Covered: func(context.Context) (uint64, error) { return 1 << 60, nil }})
		if err := k.Tend(ctx); err != nil {
			t.Fatal(err)
		}
		size, err := s.RecordBytes()
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	if size := tend(tier.Budget{}); size < 12<<20 {
		t.Errorf("without a budget: %d bytes", size)
	}
	if size := tend(tier.Budget{Bytes: 1 << 30}); size > 2<<20 {
		t.Errorf("with one: %d bytes", size)
	}
}
