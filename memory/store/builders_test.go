package store

import (
	"testing"

	"github.com/dgraph-io/ristretto/v2/z"

	"github.com/locket-dev/locket/crypto/seal"
)

// After a commit, Badger keeps no memory in which it built tables.
func TestBuildersAreReleased(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir(), Key: seal.NewKey()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pool := builderPool(s.db)
	if pool == nil {
		t.Fatal("this version of Badger keeps its arenas elsewhere; see builders.go")
	}
	for range 8 {
		pool.Return(z.NewAllocator(1<<20, "test"))
	}
	if err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta("anything", 1) }); err != nil {
		t.Fatal(err)
	}
	arena := pool.Get(freshArena/2, "test")
	defer arena.Release()
	if n := arena.Allocated(); n > freshArena {
		t.Errorf("an arena of %d bytes is kept", n)
	}
}
