package servetest

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Media implements serve.MediaReader: this one was given no recordings.
func (n *Node) Media(ctx context.Context, id memory.ID) (serve.Media, error) {
	if _, err := n.Get(ctx, id); err != nil {
		return serve.Media{}, err
	}
	return serve.Media{}, fmt.Errorf("%w: %s has no recording or picture", memory.ErrNotFound, id)
}

// media of a memory that has none, of none, and of a locked node.
func media(t *testing.T, c *serve.Client, _ Subject) {
	id := added(t, c, plain("The bike is blue"))
	_, _, err := c.Media(t.Context(), id.String(), io.Discard)
	want(t, err, memory.ErrNotFound)
	_, _, err = c.Media(t.Context(), "zzzzzzzzzzzzzzzzzzzzzzzzzz", io.Discard)
	if err == nil {
		t.Error("media of no memory")
	}
	if _, err := c.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Media(t.Context(), id.String(), io.Discard)
	want(t, err, memory.ErrLocked)
}
