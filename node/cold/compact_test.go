package cold_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
)

// Replaced values are removed from the disk even if nothing turns cold.
func TestCompactRemovesReplacedValues(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	value := make([]byte, 150<<10)
	for range 100 { // the same value, again and again
		rand.Read(value)
		if err := s.Update(ctx, func(tx *store.Tx) error { return tx.PutMeta("large", value) }); err != nil {
			t.Fatal(err)
		}
	}
	maintain := func(b tier.Budget) uint64 {
		t.Helper()
		k := cold.New(cold.Config{Store: s, Packs: packStore{}, Commit: s.UpdateInReserve, Budget: b, FlushIndex: covered})
		if err := k.Maintain(ctx); err != nil {
			t.Fatal(err)
		}
		size, err := s.RecordBytes()
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	if size := maintain(tier.Budget{}); size < 12<<20 {
		t.Errorf("without a budget: %d bytes", size)
	}
	if size := maintain(tier.Budget{Bytes: 1 << 30}); size > 2<<20 {
		t.Errorf("with one: %d bytes", size)
	}
}

// The steps that need most memory happen while the caller has freed everything that can be loaded
// again: the records are rewritten, and a small store's memtable becomes a table.
func TestCachesAreFreedWhileRewriting(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	write := func(times int) {
		t.Helper()
		value := make([]byte, 150<<10)
		for range times {
			rand.Read(value)
			if err := s.Update(ctx, func(tx *store.Tx) error { return tx.PutMeta("large", value) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	size := func() uint64 {
		n, err := s.RecordBytes()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	rewritten, settled := 0, 0
	k := cold.New(cold.Config{Store: s, Packs: packStore{}, Commit: s.UpdateInReserve, Budget: tier.Budget{Bytes: 1 << 30}, FlushIndex: covered,
		WithFreedMemory: func(ctx context.Context, do func(context.Context) error) error {
			large, full := size() > 12<<20, s.NeedsFlush()
			err := do(ctx)
			if large && size() < 2<<20 {
				rewritten++
			}
			if full && !s.NeedsFlush() {
				settled++
			}
			return err
		}})
	write(100)
	if err := k.Maintain(ctx); err != nil {
		t.Fatal(err)
	}
	write(25)
	if !s.NeedsFlush() {
		t.Fatal("the store would not write its memtable soon")
	}
	if err := k.CoolDuringSync(ctx); err != nil {
		t.Fatal(err)
	}
	if rewritten != 1 || settled == 0 || s.NeedsFlush() {
		t.Errorf("rewritten %d times and settled %d times while nothing was loaded; to be settled still: %v", rewritten, settled, s.NeedsFlush())
	}
}
