package node_test

import (
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What a worker said is also taken back from cold memories, or they are
// counted.
func TestRevertOfColdMemories(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 1)
	d.skew = -72 * time.Hour
	d.init()
	ctx := t.Context()
	d.tell("The kettle stands in room 100.", nil)
	var said []memory.Assertion
	for i, text := range []string{"Open from two", "Closed on Mondays"} {
		c := memory.Candidate{Type: memory.Resource, Text: text, Owner: memory.Owner{User: "x"}, Confidence: 1, Sensitivity: memory.Private,
			Source: memory.Source{Plugin: "worker/read", Model: "tesseract"}, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Content: text}}}
		said = append(said, memory.Assertion{Memory: memory.ID{byte(i + 1)}, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
	}
	if err := d.HearWorker(ctx, said...); err != nil {
		t.Fatal(err)
	}
	d.skew = 0
	d.cfg.Hot.Records = 1
	d.reopen()
	d.well()
	if a := d.cool(); a.Cold < 2 {
		t.Fatalf("%+v", a)
	}
	online := d.offline()
	if _, err := d.Get(ctx, memory.ID{1}); !errors.Is(err, serve.ErrCold) {
		t.Fatalf("what a worker said is not cold: %v", err)
	}
	r := serve.RevertRequest{Source: "worker", Plan: true}
	if v, err := d.Revert(ctx, r); err != nil || v.Unseen < 2 || v.Claims != 0 {
		t.Errorf("without a network: %+v, %v", v, err)
	}
	online()
	v, err := d.Revert(ctx, r)
	if err != nil || v.Unseen != 0 || v.Claims != 2 {
		t.Errorf("with a network: %+v, %v", v, err)
	}
	r.Plan = false
	if v, err = d.Revert(ctx, r); err != nil || v.Claims != 2 {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := d.Get(ctx, memory.ID{1}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if v, err = d.Revert(ctx, serve.RevertRequest{Undo: v.ID}); err != nil || v.Claims != 2 {
		t.Errorf("taken back: %+v, %v", v, err)
	}
}
