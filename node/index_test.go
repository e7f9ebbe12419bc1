package node

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// A session that is being opened has no gate: it accepts what the wearer's own device
// says, and nothing that others say.
func TestOthersAreNotAcceptedWhileOpening(t *testing.T) {
	st, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	index, err := recall.Open(t.Context(), segments{st, wordsPrefix}, recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(index.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	e := engine.New(engine.Config{Space: memory.SpaceID{1}, Member: memory.MemberID{1}, Store: st, Index: index, Clock: new(memory.Ticker), Check: new(session).check})
	say := func(rank memory.Rank, id memory.ID) error {
		return e.Commit(t.Context(), func(tx *store.Tx) error {
			_, err := e.AssertTx(tx, rank, memory.Assertion{Memory: id, Act: memory.ActPropose,
				Candidate: &memory.Candidate{Type: memory.Semantic, Text: "Ana likes tea", Owner: memory.Owner{User: "user"}, Sensitivity: memory.Personal, Confidence: 1}})
			return err
		})
	}
	if err := say(memory.RankDevice, memory.ID{1}); err != nil {
		t.Error(err)
	}
	if err := say(memory.RankCloud, memory.ID{2}); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("heard: %v", err)
	}
	if err := st.View(t.Context(), func(tx *store.Tx) error { _, err := tx.Memory(memory.ID{2}); return err }); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
}
