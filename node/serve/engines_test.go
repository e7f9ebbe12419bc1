package serve_test

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// engineless checks the answers of a node without engines.
func engineless(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	if list, err := c.Engines(ctx); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err := c.TryEngines(ctx); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	_, err := c.AddEngine(ctx, serve.AddEngineRequest{Kind: "nose", Address: "tesseract"})
	want(t, err, memory.ErrInvalid)
	_, err = c.AddEngine(ctx, serve.AddEngineRequest{Kind: "mind", Address: "  "})
	want(t, err, memory.ErrInvalid)
	_, err = c.AddEngine(ctx, serve.AddEngineRequest{Kind: "mind", Address: "gopher://example", Model: "m", Consent: true})
	want(t, err, memory.ErrInvalid)
	_, err = c.RemoveEngine(ctx, serve.RemoveEngineRequest{Kind: "ears"})
	want(t, err, memory.ErrNotFound)
}
