package apps_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Errors and abbreviations tell an app nothing about memories that it may not see.
func TestThreatHiddenMemoriesProbed(t *testing.T) {
	t.Run("ids", hiddenIDs)
	t.Run("predecessors", hiddenPredecessor)
}

// An app can't find out by abbreviating the id of what it sees whether a hidden memory's id begins
// in the same way: with enough ids it could count them.
func hiddenIDs(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	seen := h.add(t, h.Client, plain("Ana likes green tea"))
	app := h.app(t, reads("reader", "semantic"))
	short := seen.String()[:6]
	if m, err := app.Get(ctx, short); err != nil || m.ID != seen {
		t.Fatalf("%+v, %v", m, err)
	}
	hidden := plain("Ana's sister Zora is pregnant")
	hidden.Sensitivity = new(memory.Private)
	h.as(t, seen.String()[:8], hidden)
	if m, err := app.Get(ctx, short); err != nil || m.ID != seen {
		t.Errorf("beside a hidden memory whose id begins in the same way: %+v, %v", m, err)
	}
	if _, err := app.Why(ctx, short); err != nil {
		t.Error(err)
	}
	if _, err := h.Get(ctx, short); err == nil {
		t.Error("the owner is not told that there are two")
	}
}

// as adds a memory whose id begins with the given characters, as an import may.
func (h *home) as(t *testing.T, begins string, r serve.AddRequest) {
	t.Helper()
	from := newHome(t)
	id := from.add(t, from.Client, r).String()
	var all []byte
	for rec, err := range from.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind != "signature" {
			all = append(append(all, bytes.ReplaceAll(line, []byte(id), []byte(begins+id[len(begins):]))...), '\n')
		}
	}
	if res, err := h.Import(t.Context(), bytes.NewReader(all), serve.ImportOptions{Unsigned: true}); err != nil || res.Taken != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// An app that may not see what a memory replaced gets the same answer as if nothing had been there.
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
