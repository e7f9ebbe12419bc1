package query_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// The next page begins where the previous one ended, even if its last memory was erased
// or never existed: a cursor does not reveal whether the memory it names exists.
func TestPagesAfterErasure(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	ctx := t.Context()
	no := false
	var ids []memory.ID
	for i := range 5 {
		res, err := api.Add(ctx, serve.AddRequest{Text: fmt.Sprintf("The shelf %d is made of oak", i), Infer: &no})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, res.Changes[0].Memory)
	}
	slices.Reverse(ids)
	loose, err := filter.Equal("pinned", "false")
	if err != nil {
		t.Fatal(err)
	}
	list := func(q serve.ListQuery) (got []memory.ID, next string) {
		t.Helper()
		page, err := api.List(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Memories {
			got = append(got, m.ID)
		}
		return got, page.Next
	}
	first, next := list(serve.ListQuery{Limit: 2})
	if !slices.Equal(first, ids[:2]) || next == "" {
		t.Fatalf("%v, next %q", first, next)
	}
	if _, err := api.Delete(ctx, ids[1].String()); err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]filter.Filter{"all": {}, "by a filter": loose} {
		if rest, end := list(serve.ListQuery{Limit: 3, Cursor: next, Filters: by}); !slices.Equal(rest, ids[2:]) || end != "" {
			t.Errorf("%s, after %v: %v, next %q", name, first, rest, end)
		}
	}
	for _, cursor := range []string{"x", "AAAA", ids[0].String()} {
		_, err := api.List(ctx, serve.ListQuery{Cursor: cursor})
		if p, ok := errors.AsType[*serve.Problem](err); !ok || p.Status != 422 || p.Field != "cursor" {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}
