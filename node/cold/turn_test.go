package cold_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/cold"
)

// slow returns a pack only when it is told to.
type slow struct {
	packStore
	asked, give chan struct{}
}

func (s *slow) Get(ctx context.Context, at []byte, size int64) ([]byte, error) {
	s.asked <- struct{}{}
	select {
	case <-s.give:
		return s.packStore.Get(ctx, at, size)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Callers who need a cold memory wait for a slow fetch only as long as they like, and
// callers who ask for the keeper's status do not wait at all.
func TestSlowPackStoreBlocksNoCaller(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	sayFacts(t, s, 3)
	sh := &slow{packStore: packStore{}, asked: make(chan struct{}), give: make(chan struct{})}
	freeze(t, s, sh, memory.ID{1})
	freeze(t, s, sh, memory.ID{2})
	k := cold.New(cold.Config{Store: s, Packs: sh, Commit: s.UpdateInReserve})
	fetched := make(chan error, 1)
	go func() { _, err := k.Fetch(ctx, memory.ID{1}); fetched <- err }()
	<-sh.asked
	tired, cancel := context.WithCancel(ctx)
	cancel()
	missing, err := k.Fetch(tired, memory.ID{2}, memory.ID{3})
	if !errors.Is(err, cold.ErrUnreachable) || !errors.Is(err, context.Canceled) || !slices.Equal(missing, []memory.ID{{2}}) {
		t.Errorf("missing %v: %v", missing, err)
	}
	if st, err := k.Status(ctx); err != nil || st.Cold != 2 || st.Missing != "" {
		t.Errorf("%+v, %v", st, err)
	}
	close(sh.give)
	if err := <-fetched; err != nil {
		t.Error(err)
	}
}

// If a caller gives up, that says nothing about the pack store: the next caller is
// not kept waiting.
func TestCancelledFetchBlocksNoOther(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	sayFacts(t, s, 1)
	sh := &slow{packStore: packStore{}, asked: make(chan struct{}, 2), give: make(chan struct{}, 1)}
	freeze(t, s, sh, memory.ID{1})
	k := cold.New(cold.Config{Store: s, Packs: sh, Commit: s.UpdateInReserve})
	tired, cancel := context.WithCancel(ctx)
	go func() { <-sh.asked; cancel() }()
	if _, err := k.Fetch(tired, memory.ID{1}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	sh.give <- struct{}{}
	if missing, err := k.Fetch(ctx, memory.ID{1}); err != nil || len(missing) != 0 {
		t.Errorf("missing %v: %v", missing, err)
	}
}
