package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
)

// If the deltas of a space were dropped in favour of a snapshot, devices of each kind
// that were away or are new still know everything: with only a relay, with an envelope
// store, and with cold memories, which stay cold, or are removed if they were erased.
func TestEachDeviceKindReturnsAfterCompaction(t *testing.T) {
	t.Parallel()
	relay := serveRelay(t)
	a, b, storing, cold := newDevice(t, relay.url, 1), newDevice(t, relay.url, 2), newDevice(t, relay.url, 3), newDevice(t, relay.url, 4)
	a.cfg.Sync.Snapshots, a.cfg.Sync.Compact = 1<<30, true
	b.cfg.Sync.Snapshots = 1 << 30
	storing.cfg.Sync.Metered = config.MeteredYes // so it has an envelope store
	cold.cfg.Hot.Records = 5
	a.skew = -72 * time.Hour
	a.init()
	var ids []memory.ID
	for i := range 12 {
		ids = append(ids, a.tell(fmt.Sprintf("The kettle number %d stands in room %d.", i, 100+i), nil))
	}
	a.well()
	for _, d := range []*device{b, storing, cold} {
		a.pair(d)
		d.well()
	}
	cold.cool()
	was, err := cold.Tiers(t.Context())
	if err != nil || was.Cold == 0 {
		t.Fatalf("%+v, %v", was, err)
	}
	before := storing.tell("Said before all of it, on the shelf.", nil)
	if s := storing.sync(); s.Error != "" {
		t.Fatal(s.Error)
	}

	a.well()
	for i := range 4 { // meanwhile
		a.tell(fmt.Sprintf("Note %d that was made meanwhile.", i), nil)
		a.said(fmt.Sprintf("Line %d that was said meanwhile.", i))
		a.well()
	}
	for _, id := range []memory.ID{ids[0], ids[11], before} {
		if err := a.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	a.well()
	b.well()
	a.cfg.Sync.Snapshots = 1
	for _, of := range []*device{a, b, a, b} { // one makes a snapshot, the other verifies it, and the bodies are dropped
		of.reopen()
		of.well()
	}
	if n := relay.bodies(t, a); n != 0 {
		t.Fatalf("%d bodies are at the relay yet", n)
	}
	want := a.state()
	if strings.Count(want, "meanwhile.") != 12 {
		t.Fatal(want)
	}

	storing.reopen()
	for range 2 {
		storing.well()
	}
	if got := storing.state(); got != want {
		t.Errorf("with an envelope store\n%s\nwant\n%s", got, want)
	}
	cold.reopen()
	cold.well()
	if s, err := cold.Tiers(t.Context()); err != nil || s.Cold == 0 || s.Fetched != 0 {
		t.Errorf("the cold: %+v, before %+v, %v", s, was, err)
	}
	if _, err := cold.MoveTiers(t.Context(), serve.MoveRequest{All: true}); err != nil {
		t.Fatal(err)
	}
	if got := cold.state(); got != want {
		t.Errorf("with cold memories\n%s\nwant\n%s", got, want)
	}
	for _, metered := range []config.Metered{config.MeteredNo, config.MeteredYes} {
		fresh := newDevice(t, relay.url, 7)
		fresh.cfg.Sync.Metered = metered
		a.pair(fresh)
		for range 2 {
			fresh.well()
		}
		if got := fresh.state(); got != want {
			t.Errorf("new, with an envelope store: %v\n%s\nwant\n%s", metered, got, want)
		}
	}

	// What comes afterwards is exchanged both ways, even after a restart.
	last := storing.tell("Said after all of it, on the shelf.", nil)
	storing.well()
	a.well()
	if _, err := a.Get(t.Context(), last); err != nil {
		t.Error(err)
	}
	a.tell("And the answer.", nil)
	a.well()
	storing.reopen()
	storing.well()
	if got := storing.state(); got != a.state() {
		t.Errorf("afterwards\n%s\nwant\n%s", got, a.state())
	}
}

// bodies returns how many deltas of a device's space have their bodies at the relay.
func (s *service) bodies(t *testing.T, of *device) (n int) {
	t.Helper()
	page, err := of.List(t.Context(), serve.ListQuery{Limit: 1})
	if err != nil || len(page.Memories) == 0 {
		t.Fatal(err)
	}
	all, err := s.store.After(t.Context(), page.Memories[0].Space, 0, 1000, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if d, err := envelope.ParseDelta(p.Delta); err != nil {
			t.Fatal(err)
		} else if d.Body != nil {
			n++
		}
	}
	return n
}
