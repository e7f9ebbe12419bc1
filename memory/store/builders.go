package store

import (
	"reflect"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2/z"
)

// Badger builds each table in an arena, which grows to four to eight times the
// table, and keeps up to eight arenas for the next tables. It lets go of one
// every two seconds, and only while it builds nothing. After a few thousand
// commits without a rest the arenas hold more than everything else: 67 MB during
// the first sync of a wearable. So the store empties the pool after each commit.
// Badger has no setting for it, and the pool is a private field of its DB.

// freshArena is the size in bytes below which an arena is a new one.
const freshArena = 1 << 10

// builderPool returns the pool in which a database keeps arenas, or nil if this
// version of Badger has none.
func builderPool(db *badger.DB) *z.AllocatorPool {
	field := reflect.ValueOf(db).Elem().FieldByName("allocPool")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*z.AllocatorPool]() {
		return nil
	}
	return (*z.AllocatorPool)(field.UnsafePointer())
}

// letBuildersGo empties the pool. Get on an empty pool makes an arena of the size
// that is asked for. Builders that run have their arenas to themselves, so it can
// be called at any time while db is open.
func letBuildersGo(db *badger.DB) {
	pool := builderPool(db)
	if pool == nil {
		return
	}
	for {
		arena := pool.Get(freshArena/2, "store")
		kept := arena.Allocated() > freshArena
		arena.Release()
		if !kept {
			return
		}
	}
}
