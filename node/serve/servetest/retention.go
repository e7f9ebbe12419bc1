package servetest

import (
	"context"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Retention implements serve.Keeper: this one has no rules.
func (n *Node) Retention(ctx context.Context) (serve.RetentionAnswer, error) {
	done, err := n.open(ctx)
	if err != nil {
		return serve.RetentionAnswer{}, err
	}
	defer done()
	return serve.RetentionAnswer{Clock: n.Now().UTC()}, nil
}

// retention names what would go, and a locked node does not know.
func retention(t *testing.T, c *serve.Client, _ Subject) {
	added(t, c, plain("The bike is blue"))
	a, err := c.Retention(t.Context())
	if err != nil || a.Rules == nil || len(a.Memories) != 0 || len(a.Utterances) != 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := c.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = c.Retention(t.Context())
	want(t, err, memory.ErrLocked)
}
