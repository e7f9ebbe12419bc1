package opened

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/locket-dev/locket/memory"
)

// node is locked and unlocked as a node is.
type node struct{ life *Life }

func (n *node) of() Of[string] {
	return From(func() (string, *Life, func(), error) {
		if n.life == nil {
			return "", nil, nil, memory.ErrLocked
		}
		return "part", n.life, func() {}, nil
	})
}

// A long call ends with the life, and says why; one that ended earlier keeps its
// own error.
func TestCallEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{NewLife(nil)}
		own := errors.New("own")
		if err := n.of().During(t.Context(), func(_ context.Context, part string) error { return own }); err != own {
			t.Errorf("own error: %v", err)
		}
		ctx, hangUp := context.WithCancel(t.Context())
		hangUp()
		err := n.of().During(ctx, func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, context.Canceled) || errors.Is(err, memory.ErrLocked) {
			t.Errorf("hung up: %v", err)
		}
		long := make(chan error, 1)
		go func() {
			long <- n.of().During(t.Context(), func(ctx context.Context, _ string) error { <-ctx.Done(); return own })
		}()
		synctest.Wait()
		n.life.End()
		n.life.End()
		n.life.Wait()
		if err := <-long; !errors.Is(err, memory.ErrLocked) {
			t.Errorf("locked meanwhile: %v", err)
		}
		n.life = nil
		if err := n.of().During(t.Context(), func(context.Context, string) error { return nil }); !errors.Is(err, memory.ErrLocked) {
			t.Errorf("locked: %v", err)
		}
	})
}

// What runs in the background ends at stop and with the life, and both wait for
// it.
func TestBackgroundEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, ended := NewLife(nil), 0
		run := func(ctx context.Context) { <-ctx.Done(); ended++ }
		l.Start(run)()
		if ended != 1 {
			t.Error("stop does not wait")
		}
		stop := l.Start(run)
		synctest.Wait()
		l.End()
		l.Wait()
		if ended != 2 {
			t.Error("the life's end does not wait")
		}
		stop()
	})
}
