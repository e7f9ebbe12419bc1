package servetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

var _ serve.Granter = (*Node)(nil)

// WorkerLog implements serve.Granter.
func (n *Node) WorkerLog(context.Context, string, int) (serve.WorkerLog, error) {
	return serve.WorkerLog{}, errAlone
}

// Revert implements serve.Granter: no worker has said anything here.
func (n *Node) Revert(_ context.Context, r serve.RevertRequest) (serve.Reverted, error) {
	switch {
	case r.Undo != "" && r.Source == "":
		return serve.Reverted{}, fmt.Errorf("revert %.40q: %w", r.Undo, memory.ErrNotFound)
	case (r.Source == "worker") == (r.App != "") || r.Undo != "":
		return serve.Reverted{}, fmt.Errorf("%w: source", memory.ErrInvalid)
	case !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until):
		return serve.Reverted{}, fmt.Errorf("%w: until: nothing is between it and since", memory.ErrInvalid)
	}
	return serve.Reverted{Until: time.Now()}, nil
}

// reverts: where no worker has spoken there is nothing to take back, and a
// request that is not clear takes nothing.
func reverts(t *testing.T, c *serve.Client, _ Subject) {
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
