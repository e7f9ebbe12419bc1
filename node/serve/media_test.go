package serve_test

import (
	"io"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// media: asking for the media of a memory that has none, of no memory, and of a
// locked node.
func mediaTopic(t *testing.T, c *serve.Client) {
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
