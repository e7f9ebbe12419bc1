package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/pump"
)

// TestPanickingEventIsQuarantined: an event that makes the node panic is set aside at the next start,
// and the events after it are processed.
func TestPanickingEventIsQuarantined(t *testing.T) {
	n := newNode(t, nil)
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	at := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	var events []memory.Event
	for seq, said := range []string{"My brother lives in Oslo.", "My cousin lives in Bern.", "My sister lives in Rome."} {
		events = append(events, memory.Event{ID: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(seq)}, Kind: memory.KindText, At: at, Received: at, Clock: memory.ClockWall, Text: said})
	}
	if err := n.writer().Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(n.cfg.Home, "panicked")
	var seen []uint64
	run := func(ill uint64) (panicked any) {
		t.Helper()
		seen = nil
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		p, err := pump.New(ctx, pump.Config{Journal: n.journal, Identity: o.ring.JournalIdentity(), Engine: o.engine, Blobs: o.store, Extract: o.extract, Log: n.log, PanicFile: note,
			OnEvent: func(out extract.Outcome) {
				if out.Event.Seq == ill {
					panic("of a test")
				}
				seen = append(seen, out.Event.Seq)
			}, OnIdle: func(context.Context) { stop() }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { panicked = recover() }()
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
		return nil
	}
	const never = 99
	if v := run(1); v == nil || !slices.Equal(seen, []uint64{0}) {
		t.Fatalf("panicked with %v, after %v", v, seen)
	}
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}
	if v := run(never); v != nil || !slices.Equal(seen, []uint64{0, 2}) {
		t.Errorf("panicked with %v, after %v", v, seen)
	}
	if _, err := os.Stat(note); !os.IsNotExist(err) {
		t.Errorf("the entry is noted still: %v", err)
	}
	if q, err := n.Quarantine(t.Context(), 9); err != nil || len(q) != 1 || q[0].Count != 1 || q[0].Kind != "failed" {
		t.Errorf("quarantine: %+v, %v", q, err)
	}
	if v := run(never); v != nil || len(seen) != 0 {
		t.Errorf("panicked with %v, after %v", v, seen)
	}
}
