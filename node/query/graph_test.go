package query_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node/serve"
)

// The atlas is computed only once as long as nothing changes, and keeps nothing
// of what was forgotten; nothing is computed for a client that has gone.
func TestAtlasIsCached(t *testing.T) {
	n := nodetest.New(t, nil)
	ctx := t.Context()
	no := false
	res, err := n.Add(ctx, serve.AddRequest{Text: "Liz works for Philips", Infer: &no, Type: memory.Semantic,
		Fields: memory.Fields{Semantic: &memory.SemanticFields{Subject: "Liz", Predicate: "works for", Object: "Philips"}}})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := n.Graph(over, atlas.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("for somebody who has gone: %v", err)
	}
	draw := func() *atlas.Atlas {
		t.Helper()
		a, err := n.Reader.Atlas(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := draw()
	if draw() != first {
		t.Error("drawn anew, though nothing has changed")
	}
	if err := n.Delete(ctx, res.Changes[0].Memory); err != nil {
		t.Fatal(err)
	}
	second := draw()
	if left := second.View(atlas.Query{Past: true}).Entities; second == first || len(left) != 0 {
		t.Errorf("entities of what was forgotten: %v", left)
	}
	runtime.KeepAlive(first)
}
