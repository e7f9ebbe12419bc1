package query_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// From the moment that a memory expires, no reader shows it any more, although nothing
// has changed in the records since each of them was read.
func TestExpiredMemoryIsHiddenEverywhere(t *testing.T) {
	api, ahead := aheadNode(t)
	ctx := t.Context()
	no := false
	add := func(text, subject string, ends time.Time) string {
		t.Helper()
		res, err := api.Add(ctx, serve.AddRequest{Text: text, Infer: &no, Type: memory.Semantic, Expires: ends, User: subject,
			Fields: memory.Fields{Semantic: &memory.SemanticFields{Subject: subject, Predicate: "works_for", Object: "Marsh Ltd"}}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Changes[0].Memory.String()
	}
	id := add("Heron works for Marsh Ltd", "Heron", time.Now().Add(time.Hour))
	kept := add("Egret works for Marsh Ltd", "Egret", time.Time{})
	only, err := filter.Equal("type", "semantic")
	if err != nil {
		t.Fatal(err)
	}
	today := serve.Date(nodetest.Today(t))
	text := func(v any, err error) string {
		b, wrong := json.Marshal(v)
		if err != nil || wrong != nil {
			return "error"
		}
		return string(b)
	}
	readers := map[string]func() string{
		"list":     func() string { return text(api.List(ctx, serve.ListQuery{})) },
		"filtered": func() string { return text(api.List(ctx, serve.ListQuery{Filters: only})) },
		"get":      func() string { return text(api.Get(ctx, id)) },
		"why":      func() string { return text(api.Why(ctx, id)) },
		"history":  func() string { return text(api.History(ctx, id)) },
		"search":   func() string { return text(api.Search(ctx, serve.SearchRequest{Query: "who works for Marsh Ltd"})) },
		"ask":      func() string { return text(api.Ask(ctx, serve.AskRequest{Question: "Who works for Marsh Ltd?"})) },
		"context":  func() string { return text(api.Context(ctx, serve.ContextRequest{Topic: "Marsh Ltd"})) },
		"graph":    func() string { return text(api.Graph(ctx, atlas.Query{})) },
		"near":     func() string { return text(api.Graph(ctx, atlas.Query{Entity: "Marsh Ltd"})) },
		"owners":   func() string { return text(api.Owners(ctx, filter.Filter{})) },
		"day":      func() string { return text(api.Day(ctx, today)) },
		"export":   func() string { return text(store.Collect(api.Export(ctx, serve.ExportOptions{}))) },
		"changes":  func() string { return text(store.Collect(api.Changes(ctx, 0, false))) },
	}
	counts := func() (out []int) {
		t.Helper()
		st, err := api.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all := 0
		list, err := api.Categories(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			all += c.Memories
		}
		return []int{st.Memories[memory.Semantic], all}
	}
	for name, read := range readers {
		if got := read(); !strings.Contains(got, "Heron") {
			t.Errorf("%s, before: %s", name, got)
		}
	}
	before := counts()
	ahead.Store(int64(2 * time.Hour))
	for name, read := range readers {
		if got := read(); strings.Contains(got, "Heron") || strings.Contains(got, "Egret") == slices.Contains([]string{"get", "why", "history"}, name) {
			t.Errorf("%s, after: %s", name, got)
		}
	}
	if after := counts(); !slices.Equal(before, []int{2, 2 * after[1]}) || after[0] != 1 {
		t.Errorf("counts: %v, then %v", before, after)
	}
	other := "Heron works for Pond Ltd"
	if m, err := api.Update(ctx, id, serve.UpdateRequest{Text: &other}); err == nil {
		t.Errorf("corrected: %+v", m)
	}
	if m, err := api.Pin(ctx, id, true); err == nil {
		t.Errorf("pinned: %+v", m)
	}
	if _, err := api.Pin(ctx, kept, true); err != nil {
		t.Error(err)
	}
}
