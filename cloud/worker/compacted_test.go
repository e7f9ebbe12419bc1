package worker

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// A worker that joins a space whose deltas' bodies were compacted reads the snapshot, like one that
// was away meanwhile, and then what follows.
func TestCompactedSpace(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	open := func(home string) *space {
		dirs, err := places(home)
		if err != nil || len(dirs) != 1 {
			t.Fatal(dirs, err)
		}
		j, err := readJoined(dirs[0])
		o.ok(err)
		s, err := openSpace(t.Context(), dirs[0], j, time.Now, slog.New(slog.DiscardHandler))
		o.ok(err)
		t.Cleanup(func() {
			if err := s.close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	knows := func(s *space) (n int) {
		t.Helper()
		o.ok(s.replica.Sync(t.Context()))
		problems, err := s.replica.Problems(t.Context())
		o.ok(err)
		for _, p := range problems {
			if p.Waits {
				t.Errorf("%+v", p)
			}
		}
		o.ok(s.engine.View(t.Context(), func(tx *store.Tx) error {
			for _, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		}))
		given, err := s.sources(t.Context())
		if o.ok(err); len(given) != n {
			t.Errorf("of %d recordings the bytes of %d are given away", n, len(given))
		}
		return n
	}
	away := open(joined(t, o, relay, granted))
	o.source("audio/wav", []byte("one"), "recording", "waiting")
	if n := knows(away); n != 1 {
		t.Fatalf("%d", n)
	}
	for i := range 3 {
		o.source("audio/wav", fmt.Append(nil, "another ", i), "recording", "waiting")
	}

	maker, err := replica.New(replica.Config{Space: o.space, Member: o.member, Genesis: o.genesis.Bytes(), Remote: o.at, Journal: o.ledger, Keys: o, Temp: t.TempDir(),
		Snapshots: &replica.Snapshots{Archive: o.ledger, At: o.at}})
	o.ok(err)
	o.ok(maker.Checkpoint(t.Context()))
	page, err := o.at.Deltas(t.Context(), 0)
	o.ok(err)
	var refs []replica.Ref
	for _, p := range page {
		d, err := envelope.ParseDelta(p.Delta)
		o.ok(err)
		if d.Header.Member == o.member {
			refs = append(refs, replica.Ref{Member: o.member, Position: d.Header.Position()})
		}
	}
	o.ok(o.at.Forget(t.Context(), refs))

	fresh := open(joined(t, o, relay, granted))
	if was, is := knows(away), knows(fresh); was != 4 || is != 4 {
		t.Errorf("who was away knows %d, who is new %d", was, is)
	}
	o.source("audio/wav", []byte("the last"), "recording", "waiting")
	if was, is := knows(away), knows(fresh); was != 5 || is != 5 {
		t.Errorf("afterwards who was away knows %d, who is new %d", was, is)
	}
}
