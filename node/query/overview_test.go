package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// An overview that follows the changes one by one equals one that is read from
// scratch.
func TestIncrementalOverview(t *testing.T) {
	n := nodetest.New(t, nil)
	ctx := t.Context()
	food, err := filter.Equal("categories", "food")
	if err != nil {
		t.Fatal(err)
	}
	loose, err := filter.Parse(`pinned = false and type != core and (confidence >= 0.5 or plugin contains "worker/")`, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	seen := func() string {
		t.Helper()
		status, err := n.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		categories, err := n.Categories(ctx)
		if err != nil {
			t.Fatal(err)
		}
		list, err := n.List(ctx, serve.ListQuery{Limit: 10, Filters: food})
		if err != nil {
			t.Fatal(err)
		}
		free, err := n.List(ctx, serve.ListQuery{Limit: 10, Filters: loose})
		if err != nil {
			t.Fatal(err)
		}
		facts, err := n.Facts(ctx, serve.FactsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		conflicts, err := n.Conflicts(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range list.Memories {
			texts = append(texts, m.Text)
		}
		for _, m := range free.Memories {
			if m.Pinned || m.Type == memory.Core || m.Confidence < 0.5 {
				t.Errorf("%+v is listed", m)
			}
			texts = append(texts, m.Text)
		}
		b, err := json.Marshal([]any{status.Memories, categories, facts, texts, len(conflicts)})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := map[string]bool{}
	check := func(what string) {
		t.Helper()
		got := seen()
		n.Reader.DropOverview()
		if want := seen(); got != want {
			t.Errorf("after %s:\n%s, want\n%s", what, got, want)
		}
		if before[got] {
			t.Errorf("%s changed nothing: %s", what, got)
		}
		before[got] = true
	}
	check("nothing")
	no := false
	var ids []memory.ID
	for _, text := range []string{"The soup was too salty for dinner", "Bread is baked on Fridays", "The router restarts at noon"} {
		res, err := n.Add(ctx, serve.AddRequest{Text: text, Infer: &no})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, res.Changes[0].Memory)
		check("adding " + text)
	}
	if _, err := n.Pin(ctx, ids[0], true); err != nil {
		t.Fatal(err)
	}
	check("pinning")
	if n.Reader.KnowsOverview() != len(ids) {
		t.Fatalf("%d memories are known, want %d", n.Reader.KnowsOverview(), len(ids))
	}
	if err := n.Delete(ctx, ids[1]); err != nil {
		t.Fatal(err)
	}
	if known := n.Reader.KnowsOverview(); known != 0 {
		t.Errorf("%d memories are kept after something was forgotten", known)
	}
	release := n.Reader.HoldOverview(ctx)
	hasty, cancel := context.WithCancel(ctx)
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := n.Categories(hasty); !errors.Is(err, context.Canceled) {
		t.Errorf("%v from who does not wait for another's reading", err)
	}
	release()
	check("forgetting")
	text := "The lamp restarts at noon"
	if _, err := n.Update(ctx, ids[0], serve.UpdateRequest{Text: &text}); err != nil {
		t.Fatal(err)
	}
	check("correcting")
}
