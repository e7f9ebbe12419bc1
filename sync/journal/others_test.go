package journal_test

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// A member says something about one memory in more deltas than one record can
// name. This stops nobody: everything is taken, and all of it is removed from
// the envelope store when the memory is forgotten.
func TestOneMemoryInVeryManyDeltas(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	l := &journal.Journal{Space: a.ring.Space(), Member: a.ring.Member(), Store: a.store, Envelopes: true}
	other := memory.MemberID{9}
	note := "sync/" + l.Space.String() + "/from/" + memory.ID{1}.String()
	ref := func(seq uint64) replica.Ref {
		return replica.Ref{Member: other, Position: envelope.Position{Incarnation: 1 << 60, Seq: seq}}
	}
	var refs []replica.Ref
	a.update(func(tx *store.Tx) error { // a full first page
		for tx.FitsMeta(note, append(refs, ref(1<<60))) == nil {
			for range 100 {
				refs = append(refs, ref(uint64(len(refs)+1)))
			}
		}
		for tx.FitsMeta(note, refs) != nil {
			refs = refs[:len(refs)-1]
		}
		return tx.PutMeta(note, refs)
	})
	for range 600 {
		h := &envelope.Header{Space: l.Space, Member: other, Incarnation: 1 << 60, Seq: uint64(len(refs) + 1)}
		refs = append(refs, ref(h.Seq))
		said := memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin, Rank: memory.RankPerson, Space: l.Space, Clock: memory.Clock{Wall: int64(h.Seq)}, Dot: memory.Dot{Member: other, Seq: h.Seq}}
		if err := l.Apply(t.Context(), replica.Incoming{Author: envelope.Member{ID: other}, Header: h, Ops: []delta.Op{{Assertion: &said}}}, replica.State{}); err != nil {
			t.Fatalf("after %d: %v", len(refs), err)
		}
	}
	h := &envelope.Header{Space: l.Space, Member: memory.MemberID{8}, Incarnation: 1, Seq: 1}
	forget := delta.Op{Forget: &delta.Forget{Memories: []memory.ID{{1}}}}
	if err := l.Apply(t.Context(), replica.Incoming{Author: envelope.Member{ID: h.Member}, Header: h, Ops: []delta.Op{forget}}, replica.State{}); err != nil {
		t.Fatal(err)
	}
	f, err := l.Removals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	due := map[replica.Ref]bool{}
	for _, r := range f.Bodies {
		due[r] = true
	}
	for _, r := range refs {
		if !due[r] {
			t.Fatalf("%v of %d stays in the envelope store", r, len(refs))
		}
	}
	a.update(func(tx *store.Tx) error {
		for name, err := range tx.MetaNames(note) {
			t.Errorf("left: %s, %v", name, err)
		}
		return nil
	})
}
