package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Nodes that sync in the background: what one learns is sent to the other, which then finds
// it in its index.
func TestRunningNodesSync(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 41), newDevice(t, relay.url, 42)
	for _, d := range []*device{a, b} {
		d.cfg.Broker.Listen = "127.0.0.1:0"
	}
	a.init()
	a.well()
	a.pair(b)
	for _, d := range []*device{a, b} {
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for text, way := range map[string][2]*device{"Ana likes plums.": {a, b}, "Tom has a red bicycle.": {b, a}} {
		id := way[0].tell(text, nil)
		for c, err := range way[1].Changes(t.Context(), 0, true) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Memory == id && c.Verdict == memory.Add {
				break
			}
		}
		if !strings.Contains(way[1].state(), text) {
			t.Errorf("%q did not come", text)
		}
	}
	for _, d := range []*device{a, b} {
		if err := d.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.reopen()
	}
	if a.state() != b.state() {
		t.Errorf("first\n%s\nsecond\n%s", a.state(), b.state())
	}
}

// A node that syncs in the background, and can't start to keep envelopes for a second relay,
// goes on with the one relay that it has.
func TestFailedSecondRelayKeepsTheFirst(t *testing.T) {
	relay, other := serveRelay(t), serveRelay(t)
	a, b := newDevice(t, relay.url, 43), newDevice(t, relay.url, 44)
	a.cfg.Broker.Listen, b.cfg.Broker.Listen = "127.0.0.1:0", "127.0.0.1:0"
	a.init()
	a.well()
	a.pair(b)
	for _, d := range []*device{a, b} {
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(a.cfg.Home, "shelf"), nil, 0o600); err != nil { // where the folder would be
		t.Fatal(err)
	}
	if list, err := a.AddRelay(t.Context(), other.url); err == nil {
		t.Fatalf("%+v", list)
	}
	id := a.tell("Ana likes plums.", nil)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	came := false
	for c, err := range b.Changes(ctx, 0, true) {
		if came = err == nil && c.Memory == id; came || err != nil {
			break
		}
	}
	if !came {
		t.Error("what it learns does not come to the other any more")
	}
}

// The first relay of a running node works at once: a device is admitted there, and gets what
// is learnt, as it would after a restart.
func TestFirstRelayOfARunningNode(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, "", 45), newDevice(t, relay.url, 46)
	a.cfg.Broker.Listen, b.cfg.Broker.Listen = "127.0.0.1:0", "127.0.0.1:0"
	a.init()
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := a.AddRelay(t.Context(), relay.url); err != nil || len(list) != 1 || list[0].Kind != serve.RelayPrimary {
		t.Fatalf("%+v, %v", list, err)
	}
	a.pair(b)
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := a.tell("Ana likes plums.", nil)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	came := false
	for c, err := range b.Changes(ctx, 0, true) {
		if came = err == nil && c.Memory == id; came || err != nil {
			break
		}
	}
	if !came {
		t.Error("what it learns does not come to the other")
	}
}
