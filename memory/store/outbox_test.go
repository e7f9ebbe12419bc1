package store

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Everything that was made here is sent once, in its latest form; what came from others is not
// sent.
func TestOutboxCarriesAll(t *testing.T) {
	s := open(t, t.TempDir())
	b, err := s.WriteBlob(t.Context(), strings.NewReader("a picture"))
	if err != nil {
		t.Fatal(err)
	}
	u := memory.Utterance{ID: testID(5), At: noon, Text: "my code is 1234"}
	clean := u
	clean.Text, clean.Redacted = "my code is ████", 1
	far := memory.Utterance{ID: testID(6), At: noon, Text: "from afar"}
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(home(1, me, 1, "Ghent"))
		return errors.Join(err, tx.PutUtterance(&u), tx.KeepBlob(b, testID(1)), tx.PutRemoteUtterance(&far))
	})
	update(t, s, func(tx *Tx) error { return tx.PutUtterance(&clean) })
	view(t, s, func(tx *Tx) error {
		for id, want := range map[memory.ID]int{testID(1): 1, testID(2): 0} {
			if n, err := tx.Unsent(id); n != want || err != nil {
				t.Errorf("%d of %s wait, %v", n, id, err)
			}
		}
		out := collect(t, tx.Outbox(0))
		if len(out) != 3 || out[0].Assertion == nil || out[1].Blob != b.ID || out[1].Owner != testID(1) || out[2].Utterance == nil || out[2].Utterance.Text != clean.Text {
			t.Fatalf("outbox: %+v", out)
		}
		return nil
	})
	// An older version from another member does not bring the secret back.
	update(t, s, func(tx *Tx) error { return tx.PutRemoteUtterance(&u) })
	view(t, s, func(tx *Tx) error {
		if got, err := tx.Utterance(u.ID); err != nil || got.Text != clean.Text {
			t.Errorf("utterance: %+v, %v", got, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		return tx.Erase(Targets{Memories: []memory.ID{testID(1)}, Utterances: []memory.ID{u.ID}})
	})
	view(t, s, func(tx *Tx) error {
		out := collect(t, tx.Outbox(0))
		if len(out) != 1 || out[0].Forget == nil || out[0].Forget.Utterances[0] != u.ID {
			t.Errorf("after the erasure: %+v", out)
		}
		if _, err := tx.OpenBlob(b.ID); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("blob of an erased memory: %v", err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.sentUpTo(s.state.head.Seq.Outbox) })
	view(t, s, func(tx *Tx) error {
		if left := collect(t, tx.Outbox(0)); len(left) != 0 {
			t.Errorf("after sending: %+v", left)
		}
		return nil
	})
}

// An erasure by another member keeps an unknown memory from coming later, and is not sent on.
func TestEraseRemote(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		return tx.EraseRemote(Targets{Memories: []memory.ID{testID(1)}, Utterances: []memory.ID{testID(5)}})
	})
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(home(1, me, 1, "Ghent"))
		return errors.Join(err, tx.PutRemoteUtterance(&memory.Utterance{ID: testID(5), At: noon, Text: "late"}))
	})
	view(t, s, func(tx *Tx) error {
		if _, err := tx.Utterance(testID(5)); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("utterance: %v", err)
		}
		if as, err := tx.Assertions(testID(1)); err != nil || len(as) != 0 {
			t.Errorf("assertions: %v, %v", as, err)
		}
		if left := collect(t, tx.Outbox(0)); len(left) != 0 {
			t.Errorf("outbox: %+v", left)
		}
		return nil
	})
}

// A blob of another member keeps its name.
func TestRemoteBlobKeepsItsName(t *testing.T) {
	s := open(t, t.TempDir())
	for range 2 { // the first attempt may have been interrupted
		b, err := s.WriteRemoteBlob(t.Context(), testID(9), strings.NewReader("a picture"))
		if err != nil {
			t.Fatal(err)
		}
		update(t, s, func(tx *Tx) error { return tx.KeepRemoteBlob(b, testID(1)) })
	}
	view(t, s, func(tx *Tx) error {
		r, err := tx.OpenBlob(testID(9))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got, err := io.ReadAll(r); err != nil || string(got) != "a picture" {
			t.Errorf("%q, %v", got, err)
		}
		if left := collect(t, tx.Outbox(0)); len(left) != 0 {
			t.Errorf("outbox: %+v", left)
		}
		return nil
	})
}

// A delta carries no time zones: an assertion from here comes back in UTC, and counts as the same.
func TestTimeZoneIsNotCompared(t *testing.T) {
	s := open(t, t.TempDir())
	a := home(1, me, 1, "Ghent")
	a.Candidate.Evidence = []memory.Evidence{{At: noon.In(time.FixedZone("", 7200))}}
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(a); return err })
	back := a
	c := *a.Candidate
	c.Evidence = []memory.Evidence{{At: noon.UTC()}}
	back.Candidate = &c
	update(t, s, func(tx *Tx) error { _, err := tx.AssertRemote(back); return err })
	c.Evidence[0].At = noon.Add(1)
	err := s.Update(t.Context(), func(tx *Tx) error { _, err := tx.AssertRemote(back); return err })
	if !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("another assertion under the same dot: %v", err)
	}
}

// If another member has replaced an utterance before it was sent, and it was then erased, nothing
// in the outbox names it.
func TestReplacedAndErasedBeforeSending(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error { return tx.PutUtterance(heard(1, "as it is here")) })
	u := heard(1, "as it is there")
	u.Redacted = 1
	update(t, s, func(tx *Tx) error { return tx.PutRemoteUtterance(u) })
	view(t, s, func(tx *Tx) error {
		if o := collect(t, tx.Outbox(0)); len(o) != 1 || o[0].Utterance.Text != u.Text {
			t.Errorf("replaced: %+v", o)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.EraseRemote(Targets{Utterances: []memory.ID{u.ID}}) })
	view(t, s, func(tx *Tx) error {
		if o := collect(t, tx.Outbox(0)); len(o) != 0 {
			t.Errorf("erased: %+v", o)
		}
		return nil
	})
}

// Of several blobs of an owner, those that do not wait in the outbox are sent again, whichever
// comes first.
func TestResendBlobsOutsideTheOutbox(t *testing.T) {
	for _, waits := range []int{0, 1, 2} {
		s := open(t, t.TempDir())
		var blobs []Blob
		for range 3 {
			b, err := s.WriteBlob(t.Context(), strings.NewReader("a picture"))
			if err != nil {
				t.Fatal(err)
			}
			blobs = append(blobs, b)
		}
		slices.SortFunc(blobs, func(a, b Blob) int { return bytes.Compare(a.ID[:], b.ID[:]) })
		for i, b := range blobs {
			if i != waits {
				update(t, s, func(tx *Tx) error { return tx.KeepBlob(b, testID(1)) })
			}
		}
		update(t, s, func(tx *Tx) error { return tx.sentUpTo(2) })
		update(t, s, func(tx *Tx) error { return tx.KeepBlob(blobs[waits], testID(1)) })
		update(t, s, func(tx *Tx) error { return tx.ResendBlobs(testID(1)) })
		view(t, s, func(tx *Tx) error {
			if out := collect(t, tx.Outbox(0)); len(out) != 3 {
				t.Errorf("blob %d waits: %d are to be sent, want 3: %+v", waits, len(out), out)
			}
			return nil
		})
	}
}

// sentUpTo removes the entries up to seq from the outbox.
func (t *Tx) sentUpTo(seq uint64) error {
	for e, err := range t.scan(keyOf(kindOutbox), nil, false) {
		if err != nil {
			return err
		}
		if seqOf(e.key) > seq {
			return nil
		}
		if err := t.del(e.key); err != nil {
			return err
		}
	}
	return nil
}
