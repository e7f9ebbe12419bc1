package serve_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// reverts: where no worker has said anything there is nothing to take back, and
// an unclear request takes nothing back.
func reverts(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	if _, err := c.Add(ctx, plain("The kettle is blue.")); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, bad := range []serve.RevertRequest{{}, {Source: "person"}, {Source: "worker", Undo: "x"}, {Source: "worker", Since: now, Until: now}} {
		_, err := c.Revert(ctx, bad)
		want(t, err, memory.ErrInvalid)
	}
	_, err := c.Revert(ctx, serve.RevertRequest{Undo: "neverwas"})
	want(t, err, memory.ErrNotFound)
	for _, plan := range []bool{true, false} {
		v, err := c.Revert(ctx, serve.RevertRequest{Source: "worker", Plan: plan})
		if err != nil || v.ID != "" || v.Claims != 0 || len(v.Memories) != 0 || v.Until.IsZero() {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if list, err := c.List(ctx, serve.ListQuery{}); err != nil || len(list.Memories) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
