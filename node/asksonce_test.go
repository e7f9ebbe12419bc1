package node

import (
	"context"
	"log"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Code that already holds the open node does not ask for it again. Otherwise a lock of the
// node that comes in between would wait for the holder, which would wait for the lock.
func TestOpenNodeIsNotAcquiredTwice(t *testing.T) {
	n := newNode(t, func(c *config.Config) { c.Sync.Relay = "http://127.0.0.1:1" })
	said, err := n.Add(t.Context(), serve.AddRequest{Text: "I live in Berlin"})
	if err != nil {
		t.Fatal(err)
	}
	id := said.Changes[0].Memory
	over := make(chan struct{})
	var coming sync.WaitGroup
	coming.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				n.mu.Lock() // as a lock of the node does
				n.mu.Unlock()
			}
		}
	})
	times := map[string]int{"members": 200, "where": 20, "policy": 20, "never": 20} // members leaves a lock the least time to come in between
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for what, call := range map[string]func(context.Context) error{
			"members": func(ctx context.Context) error { _, err := n.Members(ctx); return err },
			"where":   func(ctx context.Context) error { _, err := n.Where(ctx, id); return err },
			"policy":  func(ctx context.Context) error { _, err := n.SetPolicy(ctx, serve.NewPolicy{}); return err },
			"never": func(ctx context.Context) error {
				_, err := n.SetNever(ctx, serve.NeverList{Words: []string{"kayak"}})
				return err
			},
		} {
			for range times[what] {
				if err := call(t.Context()); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Minute):
		log.Fatal("the calls have not ended after 10 minutes") // the end of the test would hang, too
	}
	close(over)
	coming.Wait()
}
