package cold_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
)

// counting counts the bytes that a pack store returns.
type counting struct {
	packStore
	given int
}

func (c *counting) Get(ctx context.Context, at []byte, size int64) ([]byte, error) {
	b, err := c.packStore.Get(ctx, at, size)
	c.given += len(b)
	return b, err
}

func (c *counting) Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error) {
	b, err := c.packStore.Piece(ctx, at, from, n, size)
	c.given += len(b)
	return b, err
}

// freezePack turns 40 memories cold, in a pack of some 40 KB.
func freezePack(t *testing.T, s *store.Store, sh cold.PackStore, number byte) (at []byte, ids []memory.ID) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(number), 1))
	for n := range byte(40) {
		noise := make([]byte, 500)
		for i := range noise {
			noise[i] = byte(rng.UintN(256))
		}
		id := memory.ID{number + 1, n + 1}
		say(t, s, id, uint64(number)*100+uint64(n)+1, fmt.Sprintf("Fact %d-%d %s", number, n, hex.EncodeToString(noise)))
		ids = append(ids, id)
	}
	return freeze(t, s, sh, ids...), ids
}

// To find out which packs the pack store has lost, it is not necessary to fetch all
// of them. A pack that could not be read once is read completely, even after a
// restart.
func TestFindLostPacksByProbing(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	sh := &counting{packStore: packStore{}}
	var at [][]byte
	var first []memory.ID
	total := 0
	for n := range byte(4) {
		name, ids := freezePack(t, s, sh, n)
		at, total = append(at, name), total+len(sh.packStore[string(name)])
		if n == 0 {
			first = ids
		}
	}
	keeper := func() *cold.Keeper { return cold.New(cold.Config{Store: s, Packs: sh, Commit: s.UpdateInReserve}) }
	sh.given = 0
	if lost, err := keeper().LostPacks(ctx); err != nil || len(lost) > 0 {
		t.Fatalf("of a sound pack store: %v, %v", lost, err)
	}
	if sh.given == 0 || sh.given > total/3 {
		t.Errorf("%d bytes of %d were fetched to see that they are there", sh.given, total)
	}
	delete(sh.packStore, string(at[2]))
	body := slices.Clone(sh.packStore[string(at[3])])
	for i := range body {
		body[i] ^= 1
	}
	sh.packStore[string(at[3])] = body
	lost, err := keeper().LostPacks(ctx)
	if err != nil || len(lost) != 2 {
		t.Fatalf("one is gone, one altered: %v, %v", lost, err)
	}
	// The first pack is damaged where a sample misses it; a complete read notices
	// it.
	broken := &lying{counting: sh, at: string(at[0])}
	k := cold.New(cold.Config{Store: s, Packs: broken, Commit: s.UpdateInReserve})
	if _, err := k.Fetch(ctx, first[0]); !errors.Is(err, cold.ErrLost) {
		t.Fatal(err)
	}
	k = cold.New(cold.Config{Store: s, Packs: broken, Commit: s.UpdateInReserve})
	if lost, err := k.LostPacks(ctx); err != nil || len(lost) != 3 {
		t.Errorf("one that could not be read before: %v, %v", lost, err)
	}
	// Only the connection was broken.
	if lost, err := keeper().LostPacks(ctx); err != nil || len(lost) != 2 {
		t.Errorf("afterwards: %v, %v", lost, err)
	}
}

// lying returns every piece of a pack, but never the whole pack.
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
