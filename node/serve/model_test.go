package serve_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// modelless checks the answers of a node that asks no model; its instructions
// are kept all the same.
func modelless(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	if st, err := c.Model(ctx); err != nil || st.URL != "" || st.Waiting+st.Parked != 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	if list, err := c.ParkedMessages(ctx, 5); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	_, err := c.RetryParked(ctx)
	want(t, err, serve.ErrUnsupported)
	_, err = c.RunModel(ctx)
	want(t, err, serve.ErrUnsupported)
	if err := c.SetInstructions(ctx, "  Leave out work.\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := c.Instructions(ctx); err != nil || text != "Leave out work." {
		t.Fatalf("%q, %v", text, err)
	}
	want(t, c.SetInstructions(ctx, strings.Repeat("x", serve.MaxInstructions+1)), memory.ErrInvalid)
	if err := c.SetInstructions(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if text, err := c.Instructions(ctx); err != nil || text != "" {
		t.Fatalf("%q, %v", text, err)
	}
}
