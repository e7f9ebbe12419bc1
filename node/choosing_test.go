package node

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// A node that is locked while its engines are listed is locked: neither waits for
// the other.
func TestLockWhileEnginesAreListed(t *testing.T) {
	n := newNode(t, nil)
	entered, listed, locked := make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		listed <- n.during(t.Context(), func(_ context.Context, o *session) error {
			close(entered)
			<-o.life.Over()
			for n.mu.TryRLock() { // until the lock waits for us
				n.mu.RUnlock()
				runtime.Gosched()
			}
			_, err := n.listEngines(t.Context(), o) // as if the records had been read before
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
		case <-time.After(time.Minute):
			t.Fatalf("%s: it hangs", what)
		}
	}
}
