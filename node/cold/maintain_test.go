package cold_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
)

// A lost pack does not prevent others from being fetched, and ResumeWaiting is called each time,
// whether something was wanted or not.
func TestLostPackBlocksNoOther(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	sh, asked := packStore{}, 0
	k := cold.New(cold.Config{Store: s, Packs: sh, Commit: s.UpdateInReserve, ResumeWaiting: func(context.Context) error { asked++; return nil }})
	const packs = 6
	sayFacts(t, s, packs)
	for n := range byte(packs) {
		id := memory.ID{n + 1}
		at := freeze(t, s, sh, id)
		if n == 0 {
			delete(sh, string(at))
		}
		update(t, s, func(tx *store.Tx) error { return tx.Want(id) })
	}
	if err := k.Maintain(ctx); !errors.Is(err, cold.ErrLost) {
		t.Errorf("maintained: %v", err)
	}
	if st, err := k.Status(ctx); err != nil || st.Cold != 1 || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", st, err, asked)
	}
	update(t, s, func(tx *store.Tx) error { return tx.EraseRemote(store.Targets{Memories: []memory.ID{{1}}}) })
	if err := k.Maintain(ctx); err != nil || asked != 2 {
		t.Errorf("nothing is wanted: asked %d times, %v", asked, err)
	}
}

// A wanted group is fetched from its own pack, even if the memory's id leads to another
// one: a home may have a memory in two packs, and two ids may begin alike.
func TestWantedGroupIsFetchedFromItsPack(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	sh := packStore{}
	first, second := memory.ID{1, 15: 1}, memory.ID{1, 15: 2}
	say(t, s, first, 1, "Ana likes plums.")
	say(t, s, second, 2, "Tom likes pears.")
	freeze(t, s, sh, first)
	freeze(t, s, sh, second)
	say(t, s, first, 3, "Ana likes plums.")
	k := cold.New(cold.Config{Store: s, Packs: sh, Commit: s.UpdateInReserve})
	if st, err := k.Status(ctx); err != nil || st.Cold != 2 || st.Wanted != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := k.Maintain(ctx); err != nil {
		t.Fatal(err)
	}
	if st, err := k.Status(ctx); err != nil || st.Cold != 1 || st.Wanted != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

// Nothing turns cold while somebody holds.
func TestHoldKeepsEverythingHot(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	sayFacts(t, s, 12)
	k := cold.New(cold.Config{Store: s, Packs: packStore{}, Commit: s.UpdateInReserve, Budget: tier.Budget{Records: 3}, FlushIndex: covered})
	release := k.Hold()
	if n, err := k.Cool(ctx); n != 0 || err != nil {
		t.Errorf("%d turned cold, %v", n, err)
	}
	release()
	if n, err := k.Cool(ctx); n == 0 || err != nil {
		t.Errorf("%d turned cold afterwards, %v", n, err)
	}
}

// The callbacks for what turns cold and comes back are called within the transaction: if
// one fails, nothing came back; what it wants back comes in the same round, and before
// everything cold is read.
func TestCallbacksRunInsideTheTransaction(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	sayFacts(t, s, 3)
	refuses := errors.New("not now")
	why := refuses
	froze := 0
	var thawed []memory.ID
	k := cold.New(cold.Config{Store: s, Packs: packStore{}, Commit: s.UpdateInReserve, Budget: tier.Budget{Bytes: 1}, FlushIndex: covered,
		OnFrozen: func(_ *store.Tx, as []memory.Assertion) error { froze += len(as); return nil },
		OnThawed: func(tx *store.Tx, ids []memory.ID) error {
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
	update(t, s, func(tx *store.Tx) error { return tx.Want(memory.ID{1}) })
	var left []memory.ID
	if missing, err := k.Each(ctx, func(c *store.Cold) error { left = append(left, c.Memory.ID); return nil }); err != nil || missing != 0 {
		t.Errorf("%d are missing, %v", missing, err)
	}
	if !slices.Equal(thawed, []memory.ID{{1}, {2}}) || !slices.Equal(left, []memory.ID{{3}}) {
		t.Errorf("back are %v, and cold %v", thawed, left)
	}
}
