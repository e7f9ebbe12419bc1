package runcmd

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// Generated days of two seeds have no events in common. A day that is replayed has the same events.
func TestGeneratedDaysShareNoEvents(t *testing.T) {
	ids := func(seed uint64) map[memory.EventID]bool {
		t.Helper()
		events, err := (&replay{generate: true, seed: seed}).events(new(config.Config))
		if err != nil {
			t.Fatal(err)
		}
		out := map[memory.EventID]bool{}
		for _, e := range events {
			out[e.ID] = true
		}
		if len(out) != len(events) || len(out) == 0 {
			t.Fatalf("seed %d: %d ids of %d events", seed, len(out), len(events))
		}
		return out
	}
	seven, eight := ids(7), ids(8)
	for id := range eight {
		if seven[id] {
			t.Fatalf("%s is in both days", id)
		}
	}
	for id := range ids(7) {
		if !seven[id] {
			t.Fatalf("%s came only the second time", id)
		}
	}
}
