package share_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// inbox is a wearer's store as feeds see it.
type inbox struct {
	t     *testing.T
	store *store.Store
	clock memory.Ticker
}

var device, home = memory.MemberID{1}, memory.SpaceID{9}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	s := openStore(t)
	return &inbox{t: t, store: s}
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Dir: filepath.Join(t.TempDir(), "store"), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (b *inbox) View(ctx context.Context, fn func(*store.Tx) error) error {
	return b.store.View(ctx, fn)
}

func (b *inbox) TakeClaims(ctx context.Context, as []memory.Assertion, us []memory.Utterance) error {
	return b.store.Update(ctx, func(tx *store.Tx) error {
		for i := range us {
			if err := tx.PutUtterance(&us[i]); err != nil {
				return err
			}
		}
		for _, a := range as {
			if err := b.assert(tx, a, memory.RankCloud); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *inbox) assert(tx *store.Tx, a memory.Assertion, rank memory.Rank) (err error) {
	if a.Dot, err = tx.NextDot(device); err != nil {
		return err
	}
	a.Clock, a.Rank, a.Space = b.clock.Tick(), rank, home
	_, err = tx.Assert(a)
	return err
}

func (b *inbox) change(fn func(tx *store.Tx) error) {
	b.t.Helper()
	if err := b.store.Update(b.t.Context(), fn); err != nil {
		b.t.Fatal(err)
	}
}

// tell stores a memory with its utterance.
func (b *inbox) tell(m memory.Memory) {
	b.t.Helper()
	b.change(func(tx *store.Tx) error {
		for _, e := range m.Evidence {
			if err := tx.PutUtterance(&memory.Utterance{ID: e.Utterance, Space: home, Event: e.Event, At: e.At, Speaker: e.Speaker, Text: e.Excerpt}); err != nil {
				return err
			}
		}
		return b.assert(tx, memory.Assertion{Memory: m.ID, Act: memory.ActPropose, Candidate: &m.Candidate}, memory.RankDevice)
	})
}

// record stores a recording of ten seconds.
func (b *inbox) record(name string, at time.Time) memory.Memory {
	b.t.Helper()
	blob, err := b.store.WriteBlob(b.t.Context(), bytes.NewReader([]byte("sound of "+name)))
	if err != nil {
		b.t.Fatal(err)
	}
	m := remembered("Recording "+name, func(m *memory.Memory) {
		m.Type, m.Sensitivity, m.Tags = memory.Resource, memory.Private, []string{"recording"}
		m.Fields.Resource = &memory.ResourceFields{Title: name, MediaType: "audio/wav", Blob: blob.ID.String()}
		m.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(at.Unix())}, At: at}}
		m.TrueFrom, m.TrueTo = at, at.Add(10*time.Second)
	})
	b.change(func(tx *store.Tx) error {
		if err := tx.KeepBlob(blob, m.ID); err != nil {
			return err
		}
		return b.assert(tx, memory.Assertion{Memory: m.ID, Act: memory.ActPropose, Candidate: &m.Candidate}, memory.RankDevice)
	})
	return m
}
