package apps_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Errors tell an app nothing about memories that it may not see.
func TestThreatHiddenMemoriesProbed(t *testing.T) {
	t.Run("predecessors", hiddenPredecessor)
}

// What a memory replaced looks to an app that may not see it as if nothing had been there.
func hiddenPredecessor(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	at := func(s string) time.Time {
		out, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	lives := func(in string, since string) serve.AddRequest {
		r := plain("Ana lives in " + in)
		r.Slot, r.At = &memory.Slot{Subject: "user", Attribute: "home", Value: in}, at(since)
		return r
	}
	before := lives("the clinic", "2024-01-01")
	before.Sensitivity = new(memory.Private)
	h.add(t, h.Client, before)
	now := h.add(t, h.Client, lives("Lyon", "2025-01-01"))
	app := h.app(t, reads("reader", "semantic"))
	_, hidden := app.GetAt(ctx, now.String(), at("2024-06-01"), time.Time{})
	_, nothing := app.GetAt(ctx, now.String(), at("2023-06-01"), time.Time{})
	want(t, hidden, memory.ErrNotFound, "")
	want(t, nothing, memory.ErrNotFound, "")
	if hidden.Error() != nothing.Error() {
		t.Errorf("where a memory is hidden: %q, where there is none: %q", hidden, nothing)
	}
	if m, err := h.GetAt(ctx, now.String(), at("2024-06-01"), time.Time{}); err != nil || m.Text != before.Text {
		t.Errorf("the owner is given %q, %v", m.Text, err)
	}
}
