package journal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// A blob is sent sealed, is downloaded on request, and is deleted at the relay
// with its memory.
func TestBlobs(t *testing.T) {
	a, b := pair(t)
	picture := bytes.Repeat([]byte("a picture of a plum "), 100_000)
	kept, err := a.store.WriteBlob(t.Context(), bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	a.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{1}) })
	a.say(fact(1, "A plum."))
	a.sync()
	b.sync()
	for range 2 { // the second time, it is here
		if err := b.FetchBlob(t.Context(), kept.ID); err != nil {
			t.Fatal(err)
		}
	}
	err = b.store.View(t.Context(), func(tx *store.Tx) error {
		r, err := tx.OpenBlob(kept.ID)
		if err != nil {
			return err
		}
		defer r.Close()
		got, err := io.ReadAll(r)
		if !bytes.Equal(got, picture) {
			t.Errorf("%d bytes came, of %d", len(got), len(picture))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var name delta.Blob
	err = b.store.View(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Meta("sync/"+b.ring.Space().String()+"/blob/"+kept.ID.String(), &name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.at.HasBlob(t.Context(), remote.BlobID(name.Sealed)); err != nil {
		t.Errorf("at the relay: %v", err)
	}
	if err := b.FetchBlob(t.Context(), memory.ID{9}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("fetching an unknown blob: %v, want not found", err)
	}
	// The other device erases it; the author removes it from the relay.
	b.say(memory.Assertion{Memory: memory.ID{1}, Act: memory.ActErase})
	b.update(func(tx *store.Tx) error { return tx.Erase(store.Targets{Memories: []memory.ID{{1}}}) })
	b.sync()
	a.sync()
	if _, _, err := a.at.HasBlob(t.Context(), remote.BlobID(name.Sealed)); !errors.Is(err, remote.ErrNotFound) {
		t.Errorf("at the relay, after it was erased: %v", err)
	}
}

// What is erased is removed from the relay. The other content of its delta is
// not.
func TestErasedAtTheRelay(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "The first."), fact(2, "The second."))
	a.sync()
	b.sync()
	b.say(memory.Assertion{Memory: memory.ID{1}, Act: memory.ActErase})
	b.update(func(tx *store.Tx) error { return tx.Erase(store.Targets{Memories: []memory.ID{{1}}}) })
	b.sync()
	a.sync()
	if m := a.memory(memory.ID{1}); m == nil || m.State != memory.Erased || m.Text != "" {
		t.Errorf("erased afar: %+v", m)
	}
	ds, err := a.at.Placed(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	bodies := 0
	for _, p := range ds {
		d, err := envelope.ParseDelta(p.Delta)
		if err != nil {
			t.Fatal(err)
		}
		if d.Body != nil && d.Header.Member == a.ring.Member() {
			bodies++
			key, _ := a.ring.Epoch(a.ring.Space(), d.Header.Epoch)
			plain, err := seal.OpenBody(key, d.Body)
			if err != nil {
				t.Fatal(err)
			}
			ops, err := delta.Decode(&d.Header, plain)
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				if op.Assertion != nil && op.Assertion.Memory == (memory.ID{1}) && op.Assertion.Candidate != nil {
					t.Error("the erased one is still at the relay")
				}
			}
		}
	}
	if bodies == 0 {
		t.Error("no body of the author is left: the second is nowhere")
	}
	// A device that joins now gets the second memory.
	c := a.let(a.url, envelope.Owner, nil)
	c.sync()
	if m := c.memory(memory.ID{2}); m == nil || m.Text != "The second." {
		t.Errorf("the second, on a third device: %+v", m)
	}
	if m := c.memory(memory.ID{1}); m != nil && m.Text != "" {
		t.Errorf("the erased, on a third device: %+v", m)
	}
}

// A delta that comes after the erasure of its content is removed from the
// envelope store, too.
func TestErasedBeforeItsDeltaArrives(t *testing.T) {
	m := newMember(t, serveRelay(t), nil)
	l := &journal.Journal{Space: m.ring.Space(), Member: m.ring.Member(), Store: m.store, Envelopes: true}
	take := func(member memory.MemberID, op delta.Op) replica.Ref {
		t.Helper()
		h := &envelope.Header{Space: l.Space, Member: member, Incarnation: 1, Seq: 1}
		if err := l.Apply(t.Context(), replica.Incoming{Author: envelope.Member{ID: member}, Header: h, Ops: []delta.Op{op}}, replica.State{}); err != nil {
			t.Fatal(err)
		}
		return replica.Ref{Member: member, Position: h.Position()}
	}
	take(memory.MemberID{1}, delta.Op{Forget: &delta.Forget{Memories: []memory.ID{{1}}}})
	said := fact(1, "A plum.")
	said.Dot, said.Clock = memory.Dot{Member: memory.MemberID{2}, Seq: 1}, memory.Clock{Wall: 1}
	late := take(memory.MemberID{2}, delta.Op{Assertion: &said})
	f, err := l.Removals(t.Context())
	if err != nil || !slices.Equal(f.Bodies, []replica.Ref{late}) {
		t.Errorf("%+v, %v, want %+v", f, err, late)
	}
}

// A secret stays on its device, unless the wearer wants secrets to be sent.
func TestVaultIsNotSent(t *testing.T) {
	a, b := pair(t)
	secret := fact(1, "The code of the door.")
	secret.Candidate.Type = memory.Vault
	secret.Candidate.Fields.Vault = &memory.VaultFields{EntryType: "pin", Label: "door", Sealed: []byte("sealed")}
	a.say(secret, fact(2, "It rains."))
	a.say(memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin})
	a.sync()
	b.sync()
	if b.memory(memory.ID{1}) != nil || b.memory(memory.ID{2}) == nil {
		t.Errorf("secret %+v, fact %+v", b.memory(memory.ID{1}), b.memory(memory.ID{2}))
	}
	b.vault = true
	b.close()
	b.open()
	secret.Memory = memory.ID{3}
	b.say(secret)
	b.sync()
	a.sync()
	if a.memory(memory.ID{3}) == nil {
		t.Error("the secret was to be sent, and did not come")
	}
}

// A restored store continues under another incarnation. What it had sent comes
// back, and nothing is lost on either side.
func TestThreatRestoredFromBackup(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "Before the backup."))
	a.sync()
	a.close()
	backup := t.TempDir()
	if err := os.CopyFS(filepath.Join(backup, "store"), os.DirFS(filepath.Join(a.dir, "store"))); err != nil {
		t.Fatal(err)
	}
	a.open()
	a.say(fact(2, "After the backup."))
	a.sync()
	a.close()
	if err := os.RemoveAll(filepath.Join(a.dir, "store")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(a.dir, "store"), os.DirFS(filepath.Join(backup, "store"))); err != nil {
		t.Fatal(err)
	}
	a.open()
	a.sync()
	a.say(fact(3, "After it was put back."))
	a.sync()
	b.sync()
	for _, m := range []*member{a, b} {
		for n := byte(1); n <= 3; n++ {
			if m.memory(memory.ID{n}) == nil {
				t.Errorf("fact %d is not there", n)
			}
		}
		p, err := m.Problems(t.Context())
		if err != nil || m == b && len(p) > 0 || m == a && (len(p) != 1 || !strings.Contains(p[0].Reason, "put back")) {
			t.Errorf("problems %+v, %v", p, err)
		}
	}
}

// A worker can only say what its grant allows. The rest is quarantined, the
// same on every replica, and checked again when what it needs comes.
func TestWorkerIsLimitedToItsGrant(t *testing.T) {
	url := serveRelay(t)
	a := newMember(t, url, nil)
	w := a.let(url, envelope.Extractor, &delta.Grant{Types: []memory.Type{memory.Semantic}})
	b := a.let(url, envelope.Owner, nil)
	said := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, At: time.Unix(1_790_000_000, 0).UTC(), Text: "Ana likes plums."}
	a.update(func(tx *store.Tx) error { return tx.PutUtterance(&said) })
	a.say(fact(1, "It rains."))
	a.sync()
	cite := func(n byte, text, quote string, id memory.ID) memory.Assertion {
		f := fact(n, text)
		f.Rank = memory.RankCloud
		f.Candidate.Evidence = []memory.Evidence{{Utterance: id, Excerpt: quote, At: said.At}}
		return f
	}
	good, madeUp, early := cite(10, "Ana likes plums.", "likes plums", said.ID), cite(11, "Ana likes wine.", "likes wine", said.ID), cite(12, "Tom sings.", "Tom sings", memory.ID{51})
	proud, pin := cite(13, "I outrank you.", "Ana", said.ID), memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin, Rank: memory.RankCloud}
	proud.Rank = memory.RankPerson
	w.say(good, madeUp, early, proud, pin, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActErase})
	w.sync()
	a.sync()
	b.sync()
	for _, m := range []*member{a, b} {
		if m.memory(memory.ID{10}) == nil {
			t.Error("what the worker may say was not taken")
		}
		for _, n := range []byte{11, 12, 13} {
			if m.memory(memory.ID{n}) != nil {
				t.Errorf("%d was taken", n)
			}
		}
		if r := m.memory(memory.ID{1}); r == nil || r.Pinned || r.State != memory.Active {
			t.Errorf("what the worker tried at: %+v", r)
		}
		problems, err := m.Problems(t.Context())
		waits := 0
		for _, p := range problems {
			if p.Waits {
				waits++
			}
		}
		if err != nil || len(problems) != 5 || waits != 1 {
			t.Errorf("problems %+v, %v", problems, err)
		}
	}
	late := said
	late.ID, late.Text = memory.ID{51}, "Tom sings in the rain."
	a.update(func(tx *store.Tx) error { return tx.PutUtterance(&late) })
	a.sync()
	b.sync()
	if m := b.memory(memory.ID{12}); m == nil || !strings.Contains(m.Text, "Tom") {
		t.Error("what waited was not taken when its evidence came")
	}
	if p, err := b.Problems(t.Context()); err != nil || len(p) != 4 {
		t.Errorf("problems afterwards %+v, %v", p, err)
	}
}

// After 30 days, another key is used for sealing, for all members. Both keys
// still open.
func TestEpochEnds(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "In the first epoch."))
	a.sync()
	a.now = func() time.Time { return time.Now().Add(31 * 24 * time.Hour) }
	a.close()
	a.open()
	a.say(fact(2, "In the second epoch."))
	a.sync()
	a.sync() // and no third key
	b.sync()
	if b.memory(memory.ID{1}) == nil || b.memory(memory.ID{2}) == nil {
		t.Error("a fact of either epoch is missing")
	}
	if s, err := b.Status(t.Context()); err != nil || s.Epoch != 2 {
		t.Errorf("status %+v, %v", s, err)
	}
	b.say(fact(3, "By the other."))
	b.sync()
	a.sync()
	if a.memory(memory.ID{3}) == nil {
		t.Error("what the other sealed under the new key did not come")
	}
}

// Words of the wearer, words heard around the wearer and words of a worker are
// never in one frame, in whatever order they are in the outbox. Otherwise a
// length could reveal something about one to the author of another.
func TestOriginsAreInSeparateFrames(t *testing.T) {
	a, b := pair(t)
	of := func(n byte, rank memory.Rank) memory.Assertion {
		f := fact(n, "The code of the door is 4711.")
		f.Rank = rank
		return f
	}
	a.say(of(1, memory.RankPerson), of(2, memory.RankDevice), of(3, memory.RankDevice), of(4, memory.RankPerson), of(5, memory.RankCloud), of(6, memory.RankPerson))
	a.sync()
	b.sync()
	ds, err := a.at.Placed(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(ds) != 5 {
		t.Errorf("six words of three kinds, two of which stand together, went in %d deltas", len(ds))
	}
	for _, p := range ds {
		d, err := envelope.ParseDelta(p.Delta)
		if err != nil {
			t.Fatal(err)
		}
		key, _ := a.ring.Epoch(a.ring.Space(), d.Header.Epoch)
		plain, err := seal.OpenBody(key, d.Body)
		if err != nil {
			t.Fatal(err)
		}
		ops, err := delta.Decode(&d.Header, plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops[1:] {
			if op.Trust() != ops[0].Trust() {
				t.Errorf("delta %d has words of trust %d and %d", p.Cursor, ops[0].Trust(), op.Trust())
			}
		}
	}
	for n := byte(1); n <= 6; n++ {
		if b.memory(memory.ID{n}) == nil {
			t.Errorf("memory %d did not come", n)
		}
	}
}
