package apps

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// gated is a store whose first transaction waits.
type gated struct {
	*store.Store
	began, open chan struct{}
	first       sync.Once
	updates     int // at the same time
}

func (g *gated) Update(ctx context.Context, fn func(*store.Tx) error) error {
	g.first.Do(func() { close(g.began); <-g.open })
	g.updates++
	return g.Store.Update(ctx, fn)
}

// Entries that arrive during a transaction share the next one, and a refused one does
// not affect the others.
func TestLogEntriesShareATransaction(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := &gated{Store: s, began: make(chan struct{}), open: make(chan struct{})}
	var ls lines
	const many = 20
	outcomes := make(chan error, many+1)
	note := func(app string, tokens int) {
		outcomes <- ls.note(ctx, g, &line{app: app, most: 10, use: serve.AppUse{Did: "search", Tokens: tokens}})
	}
	go note("first", 1)
	<-g.began
	for i := range many {
		tokens := 0
		if i == 7 {
			tokens = 11 // more than it may be given
		}
		go note("second", tokens)
	}
	for waiting := 0; waiting < many; runtime.Gosched() {
		ls.mu.Lock()
		waiting = len(ls.waiting)
		ls.mu.Unlock()
	}
	close(g.open)
	refused := 0
	for range many + 1 {
		if err := <-outcomes; errors.Is(err, serve.ErrLimit) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 1 || g.updates != 2 {
		t.Errorf("%d refused, in %d transactions: want 1 in 2", refused, g.updates)
	}
	if err := s.View(ctx, func(tx *store.Tx) error {
		h, err := headOf(tx, "second")
		if h.Next != many-1 {
			t.Errorf("%d lines, want %d", h.Next, many-1)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
