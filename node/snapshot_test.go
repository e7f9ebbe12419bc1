package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// One of several devices makes snapshots and has the relay compacted: another
// one verifies the snapshot, and a third gets everything, although the deltas
// are gone.
func TestSnapshotsOfNodes(t *testing.T) {
	relay := serveRelay(t)
	a, b, c := newDevice(t, relay.url, 11), newDevice(t, relay.url, 12), newDevice(t, relay.url, 13)
	a.cfg.Sync.Snapshots, a.cfg.Sync.Compact = 8, true
	b.cfg.Sync.Snapshots, b.cfg.Sync.Compact = 1<<30, true
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	var ids []memory.ID
	for i := range 3 {
		ids = append(ids, a.tell(fmt.Sprintf("Note %d of the first.", i), nil))
		a.said(fmt.Sprintf("Line %d that was said.", i))
		a.well()
		ids = append(ids, b.tell(fmt.Sprintf("Note %d of the second.", i), nil))
		b.well()
	}
	a.home("Ghent")
	if _, err := a.Pin(t.Context(), ids[2], true); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), ids[3]); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a.well()
		b.well()
	}
	a.reopen() // makes one, if it has not yet
	a.well()
	b.reopen() // verifies it
	b.well()
	a.reopen()
	a.well()
	m, err := a.Get(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	records, err := relay.store.Records(t.Context(), m.Space)
	if err != nil || len(records) < 2 {
		t.Errorf("%d checkpoints and votes, %v", len(records), err)
	}
	first, err := relay.store.After(t.Context(), m.Space, 0, 1, 1<<20)
	if err != nil || len(first) != 1 {
		t.Fatal(len(first), err)
	}
	if d, err := envelope.ParseDelta(first[0].Delta); err != nil || d.Body != nil {
		t.Errorf("the first delta has its body yet: %v", err)
	}
	a.pair(c)
	c.well()
	d := c.state()
	if got := b.state(); got != d || strings.Count(d, `"text":"Note`) != 5 || !strings.Contains(d, "Line 2") || !strings.Contains(d, "Ghent") {
		t.Errorf("the third\n%s\nthe second\n%s", d, got)
	}
	if strings.Contains(d, "Note 1 of the second") {
		t.Error("what was deleted is back")
	}
}
