package serve_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// dreams: a plan has an id and reasons; what it did can be taken back; nothing
// else is done under its id.
func dreams(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	if list, err := c.Dreams(ctx); err != nil || len(list) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	_, err := c.UndoDream(ctx, "", memory.ID{})
	want(t, err, memory.ErrNotFound)
	_, err = c.ApplyDream(ctx, "no such plan")
	want(t, err, memory.ErrNotFound)
	_, err = c.ApplyDream(ctx, "")
	want(t, err, memory.ErrInvalid)
	for _, day := range []int{1, 9} {
		res, err := c.Add(ctx, serve.AddRequest{Text: fmt.Sprintf("My desk is at window %d", day), At: time.Now().AddDate(0, 0, -day)})
		if err != nil || len(res.Changes) == 0 {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	state := func() string {
		page, err := c.List(ctx, serve.ListQuery{State: serve.AnyState})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(page.Memories, func(a, b memory.Memory) int { return strings.Compare(a.ID.String(), b.ID.String()) })
		b, err := json.Marshal(page.Memories)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	was := state()
	plan, err := c.PlanDream(ctx)
	if err != nil || plan.ID == "" || plan.Steps == nil {
		t.Fatalf("%+v, %v", plan, err)
	}
	for _, s := range plan.Steps {
		if s.Reason == "" || s.Kind == "" {
			t.Errorf("no reason: %+v", s)
		}
	}
	if state() != was {
		t.Fatal("a plan changed something")
	}
	done, err := c.ApplyDream(ctx, plan.ID)
	if err != nil || done.Steps+len(done.Skipped) != len(plan.Steps) {
		t.Fatalf("%+v, %v", done, err)
	}
	_, err = c.ApplyDream(ctx, plan.ID)
	want(t, err, memory.ErrNotFound)
	if len(plan.Steps) > 0 {
		if _, err := c.UndoDream(ctx, "", memory.ID{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := state(); got != was {
		t.Fatalf("taken back, and otherwise:\n%s\n%s", was, got)
	}
}
