package node

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

// A node can be locked while its engines are listed: neither waits for the other.
func TestLockWhileEnginesAreListed(t *testing.T) {
	n := newNode(t, nil)
	entered, listed, locked := make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		listed <- partOf(n, func(o *session) *session { return o }).During(t.Context(), func(_ context.Context, o *session) error {
			close(entered)
			<-o.life.Done()
			for n.mu.TryRLock() { // until the lock waits for us
				n.mu.RUnlock()
				runtime.Gosched()
			}
			_, err := o.engines.List(t.Context()) // as if the records had been read before
			return err
		})
	}()
	<-entered
	go func() { locked <- n.Lock(t.Context()) }()
	for what, done := range map[string]chan error{"lock": locked, "list": listed} {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Minute):
			t.Fatalf("%s: it hangs", what)
		}
	}
}

// A caller who removes the mind and hangs up has removed it.
func TestRemoveModelAndHangUp(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	n := newNode(t, nil)
	if _, err := n.AddEngine(t.Context(), serve.AddEngineRequest{Kind: "mind", Address: s.URL, Model: s.Model()}); err != nil {
		t.Fatal(err)
	}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if o.language.Finder() == nil {
		t.Fatal("the chosen model is not set up")
	}
	var gone []engines.Spec
	err = o.engine.Commit(t.Context(), func(tx *store.Tx) (err error) {
		gone, err = engines.Remove(tx, engines.Mind, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	if err := o.engines.ApplyChoice(ctx, gone...); err != nil || o.language.Finder() != nil {
		t.Errorf("the model is asked on: %v", err)
	}
}
