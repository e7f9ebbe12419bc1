package node_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// Nodes that run sync by themselves: what one learns, the other is told of,
// and finds in its index.
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
