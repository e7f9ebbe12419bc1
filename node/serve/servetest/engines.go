package servetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

var _ serve.Enginer = (*Node)(nil)

// Engines implements serve.Enginer: this node has none.
func (n *Node) Engines(ctx context.Context) ([]serve.Engine, error) {
	done, err := n.open(ctx)
	if err == nil {
		done()
	}
	return []serve.Engine{}, err
}

// FoundEngines implements serve.Enginer: it finds none.
func (n *Node) FoundEngines(ctx context.Context, _ string) ([]serve.FoundEngine, error) {
	_, err := n.Engines(ctx)
	return nil, err
}

// AddEngine implements serve.Enginer: it can start none.
func (n *Node) AddEngine(ctx context.Context, r serve.AddEngineRequest) (serve.Engine, error) {
	if _, err := n.Engines(ctx); err != nil {
		return serve.Engine{}, err
	}
	if r.Address == "gopher://example" {
		return serve.Engine{}, fmt.Errorf("%w: url: %q: want http://HOST:PORT", memory.ErrInvalid, r.Address)
	}
	return serve.Engine{}, fmt.Errorf("%w: it starts no processes", serve.ErrEngine)
}

// RemoveEngine implements serve.Enginer.
func (n *Node) RemoveEngine(ctx context.Context, r serve.RemoveEngineRequest) ([]serve.Engine, error) {
	if _, err := n.Engines(ctx); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("engine for %.20q: %w", r.Kind, memory.ErrNotFound)
}

// TryEngines implements serve.Enginer.
func (n *Node) TryEngines(ctx context.Context) ([]serve.Engine, error) { return n.Engines(ctx) }

// engineless is what a node says that has no engines.
func engineless(t *testing.T, c *serve.Client, _ Subject) {
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
