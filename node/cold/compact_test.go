package cold_test

import (
	"crypto/rand"
	"testing"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
)

// What was replaced leaves the disk without anything turning cold.
func TestCompactWhatWasReplaced(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	value := make([]byte, 150<<10)
	for range 100 { // the same value, again and again
		rand.Read(value)
		if err := s.Update(ctx, func(tx *store.Tx) error { return tx.PutMeta("large", value) }); err != nil {
			t.Fatal(err)
		}
	}
	tend := func(b tier.Budget) uint64 {
		t.Helper()
		k := cold.New(cold.Config{Store: s, Shelf: shelf{}, Commit: s.Relieve, Budget: b, Covered: covered})
		if err := k.Maintain(ctx); err != nil {
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
