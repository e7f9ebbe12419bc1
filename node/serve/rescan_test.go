package serve_test

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// rescanned: what was quarantined unread can be tried again any number of
// times, and is remembered once.
func rescanned(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	tried := func(texts, left int) (changes int) {
		t.Helper()
		got, err := c.Rescan(ctx)
		if err != nil || got.Texts != texts || got.Left != left {
			t.Fatalf("%+v, %v; want %d texts, %d left", got, err, texts, left)
		}
		return len(got.Changes)
	}
	tried(0, 0)
	p, err := c.InstallPlugin(ctx, plugintest.Trapping())
	if err != nil {
		t.Fatal(err)
	}
	said, err := c.Add(ctx, serve.AddRequest{Text: "My dentist is Dr Novak."})
	if err != nil || len(said.Changes) > 0 || !slices.ContainsFunc(said.Refusals, func(r memory.Refusal) bool { return r.Kind == "unscanned" }) {
		t.Fatalf("%+v, %v", said, err)
	}
	if tried(1, 1) != 0 {
		t.Error("something changed")
	}
	if _, err := c.RemovePlugin(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	if tried(1, 0) == 0 {
		t.Error("nothing was remembered")
	}
	tried(0, 0)
}
