package node

import (
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// A worker's statement is cold when the line that it quotes is redacted. It is
// fetched back automatically and removed before anybody sees it, because a node
// records in its ledger what turns cold and what came back.
func TestColdAssertionIsWithdrawnWithItsLine(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	cfg := w.settings("one")
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	a := w.open(cfg, -72*time.Hour)
	old := time.Now().Add(-72 * time.Hour)
	owner, worker := memory.MemberID{2}, memory.MemberID{7}
	seq := map[memory.MemberID]uint64{}
	hears := func(from memory.MemberID, grant *delta.Grant, op delta.Op) {
		t.Helper()
		seq[from]++
		l := a.open.sync.Journal()
		at := &envelope.Header{Version: envelope.Version, Space: l.Space, Member: from, Incarnation: 1, Seq: seq[from]}
		if err := l.Apply(ctx, replica.Incoming{Author: envelope.Member{ID: from}, Header: at, Ops: []delta.Op{op}, Grant: grant}, replica.State{}); err != nil {
			t.Fatal(err)
		}
	}
	line := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes plums.", At: old}
	hears(owner, nil, delta.Op{Utterance: &line})
	id := memory.ID{1}
	hears(worker, &delta.Grant{Types: []memory.Type{memory.Semantic}}, delta.Op{Assertion: &memory.Assertion{Memory: id, Act: memory.ActPropose, Rank: memory.RankCloud,
		Dot: memory.Dot{Member: worker, Seq: 1}, Clock: memory.Clock{Wall: old.UnixMilli()}, Space: a.open.sync.Journal().Space, Source: memory.Source{Plugin: "worker/read"},
		Candidate: &memory.Candidate{Type: memory.Semantic, Text: "Ana likes plums.", Owner: memory.Owner{User: "Maja"}, Confidence: 1, Sensitivity: memory.Private,
			Source: memory.Source{Plugin: "worker/read"}, Evidence: []memory.Evidence{{Utterance: line.ID, Excerpt: "plums", At: old}}}}})
	no := false
	if _, err := a.Add(ctx, serve.AddRequest{Text: "The kettle is blue.", Infer: &no, At: old}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Hot.Records = 1
	a = w.open(cfg, 0)
	w.sync(a)
	cool := func() (cold, here bool) {
		t.Helper()
		if _, err := a.MoveTiers(ctx, serve.MoveRequest{Cool: true}); err != nil {
			t.Fatal(err)
		}
		err := a.open.store.View(ctx, func(tx *store.Tx) (err error) {
			if _, cold, err = tx.Cold(id); err != nil {
				return err
			}
			m, err := tx.Memory(id)
			if errors.Is(err, memory.ErrNotFound) {
				return nil
			}
			here = err == nil && m.Text != ""
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return cold, here
	}
	if cold, _ := cool(); !cold {
		t.Fatal("what the worker said is not cold")
	}
	line.Text, line.Redacted = "Ana likes […].", 1
	hears(owner, nil, delta.Op{Utterance: &line})
	if cold, here := cool(); cold || here {
		t.Errorf("after its line was redacted: cold %v, here %v", cold, here)
	}
}
