package extract

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
)

// What comes back as it turned cold is not indexed once more, but where the
// index lacks it.
func TestIndexSame(t *testing.T) {
	b, ctx := newBench(t), t.Context()
	a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{2}, Seq: 1}, Clock: memory.Clock{Wall: b.at.UnixMilli()}, Rank: memory.RankDevice,
		Space: memory.SpaceID{1}, Memory: memory.ID{7}, Act: memory.ActPropose,
		Candidate: &memory.Candidate{Type: memory.Semantic, Text: "The kettle is blue.", Owner: memory.Owner{User: "user"}, Sensitivity: memory.Personal, Confidence: 1}}
	err := b.store.Update(ctx, func(tx *store.Tx) error { _, err := tx.AssertRemote(a); return err })
	if err != nil {
		t.Fatal(err)
	}
	ix, err := recall.Open(ctx, shelf{}, recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	added := 0
	ix.Watch(func(ids, _ []memory.ID) { added += len(ids) })
	same := store.Document{Kind: store.MemoryDocument, ID: a.Memory, Same: true}
	changed := store.Document{Kind: store.MemoryDocument, ID: a.Memory}
	for i, step := range []struct {
		d    store.Document
		want int // added by then
	}{{same, 1}, {same, 1}, {changed, 2}} {
		if err := Index(ctx, b.store, ix, []store.Document{step.d}); err != nil {
			t.Fatal(err)
		}
		if added != step.want || !ix.Has(a.Memory) {
			t.Errorf("step %d: %d were added, want %d", i, added, step.want)
		}
	}
}
