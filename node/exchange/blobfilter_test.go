package exchange

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/journal"
)

// There are two recordings, one near a secret; the sound of that one is not
// sent.
func TestSoundNearASecretIsNotSent(t *testing.T) {
	s, err := store.Open(store.Options{Dir: filepath.Join(t.TempDir(), "store"), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	space, member, day := memory.SpaceID{1}, memory.MemberID{1}, time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	blobs := map[memory.ID]bool{}
	for i, at := range []time.Time{day, day.Add(time.Hour)} {
		b, err := s.WriteBlob(t.Context(), bytes.NewReader([]byte("sound")))
		if err != nil {
			t.Fatal(err)
		}
		blobs[b.ID] = i == 0
		c := memory.Candidate{Type: memory.Resource, Text: "Recording", Owner: memory.Owner{User: "wearer"}, Sensitivity: memory.Private, Tags: []string{"recording"},
			Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "Recording", MediaType: "audio/wav", Blob: b.ID.String()}}, TrueFrom: at, TrueTo: at.Add(5 * time.Second)}
		err = s.Update(t.Context(), func(tx *store.Tx) error {
			id := memory.ID{byte(i + 1)}
			if err := tx.KeepBlob(b, id); err != nil {
				return err
			}
			if _, err := tx.Assert(memory.Assertion{Dot: memory.Dot{Member: member, Seq: uint64(i + 1)}, Rank: memory.RankDevice, Space: space, Memory: id,
				Act: memory.ActPropose, Candidate: &c}); err != nil {
				return err
			}
			return tx.PutUtterance(&memory.Utterance{ID: memory.ID{9}, Space: space, At: day.Add(time.Hour - 9*time.Second), Text: "It is [pin]", Redacted: 1})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := blobFilter{&journal.Journal{Space: space, Member: member, Store: s}}.Outbox(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, o := range out {
		if !o.Blob.IsZero() {
			sent++
			if !blobs[o.Blob] {
				t.Error("the sound of a secret is sent")
			}
		}
	}
	if sent != 1 || len(out) < 4 {
		t.Errorf("%d blobs of %d entries are sent", sent, len(out))
	}
}
