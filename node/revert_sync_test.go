package node_test

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A revert on one device is undone on another, and both devices agree.
func TestRevertIsUndoneOnAnotherDevice(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 21), newDevice(t, relay.url, 22)
	a.init()
	a.pair(b)
	b.well()
	ctx := t.Context()
	c := memory.Candidate{Type: memory.Resource, Text: "Open from two", Owner: memory.Owner{User: "x"}, Confidence: 1, Sensitivity: memory.Private,
		Source: memory.Source{Plugin: "worker/read", Model: "tesseract"}, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Content: "Open from two"}}}
	if err := a.HearWorker(ctx, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPropose, Candidate: &c, Source: c.Source}); err != nil {
		t.Fatal(err)
	}
	done, err := a.Revert(ctx, serve.RevertRequest{Source: "worker"})
	if err != nil || done.Claims != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	a.well()
	b.well()
	if _, err := b.Get(ctx, memory.ID{1}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("it is still on the other: %v", err)
	}
	if back, err := b.Revert(ctx, serve.RevertRequest{Undo: done.ID}); err != nil || back.Claims != 1 {
		t.Fatalf("%+v, %v", back, err)
	}
	b.well()
	a.well()
	for _, d := range []*device{a, b} {
		if m, err := d.Get(ctx, memory.ID{1}); err != nil || m.Rank != memory.RankCloud {
			t.Errorf("%+v, %v", m, err)
		}
	}
}
