package journal_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// with opens the member again with these settings. It then reads the relay's checkpoints again.
func (m *member) with(s replica.Snapshots) *member {
	m.t.Helper()
	m.close()
	m.snap = &s
	m.open()
	return m
}

// again opens the member again and syncs it, so that it checks the checkpoints again.
func (m *member) again() {
	m.t.Helper()
	m.close()
	m.open()
	m.sync()
}

// knows lists the memories and the utterances that the member has, without the
// vault's.
func (m *member) knows() []string {
	m.t.Helper()
	var out []string
	err := m.store.View(m.t.Context(), func(tx *store.Tx) error {
		for r, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active, memory.Superseded, memory.Archived}}) {
			if err != nil {
				return err
			}
			if r.Type != memory.Vault { // vault entries stay on the device where they were said
				out = append(out, r.ID.String()+" "+string(r.State)+" "+r.Text)
			}
		}
		for u, err := range tx.UtterancesByID() {
			if err != nil {
				return err
			}
			out = append(out, u.ID.String()+" "+u.Text)
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func (m *member) problems() (out []string) {
	m.t.Helper()
	ps, err := m.Problems(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range ps {
		out = append(out, p.Reason)
	}
	return out
}

func (m *member) named(what string) {
	m.t.Helper()
	if !slices.ContainsFunc(m.problems(), func(p string) bool { return strings.Contains(p, what) }) {
		m.t.Errorf("nothing says %q: %q", what, m.problems())
	}
}

// bodies counts the deltas at the relay that still have their bodies.
func (m *member) bodies() (n int) {
	m.t.Helper()
	ds, err := m.at.Placed(m.t.Context(), 0, 256)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range ds {
		d, err := envelope.ParseDelta(p.Delta)
		if err != nil {
			m.t.Fatal(err)
		}
		if d.Body != nil {
			n++
		}
	}
	return n
}

func (m *member) checkpoints() (out []*envelope.Checkpoint) {
	m.t.Helper()
	vs, err := m.at.Checkpoints(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, v := range vs {
		c, err := envelope.ParseCheckpoint(v.Checkpoint)
		if err != nil {
			m.t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// lived returns two devices that have said, changed and erased things, and that
// both have everything.
func lived(t *testing.T) (a, b *member) {
	a, b = pair(t)
	a.with(replica.Snapshots{Compact: true, Behind: 1})
	b.with(replica.Snapshots{Compact: true, Behind: 1})
	for n := range byte(20) {
		a.say(fact(n+1, "Fact number "+string(rune('A'+n))+"."))
		if n%5 == 0 {
			a.sync()
		}
	}
	u := memory.Utterance{ID: memory.ID{70}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes plums."}
	a.update(func(tx *store.Tx) error { return tx.PutUtterance(&u) })
	secret := fact(80, "The code of the door.")
	secret.Candidate.Type = memory.Vault
	secret.Candidate.Fields.Vault = &memory.VaultFields{EntryType: "pin", Label: "door", Sealed: []byte("sealed")}
	a.say(secret, memory.Assertion{Memory: memory.ID{80}, Act: memory.ActPin}) // vault entries stay on the device where they were said
	kept, err := a.store.WriteBlob(t.Context(), bytes.NewReader([]byte("a picture of a plum")))
	if err != nil {
		t.Fatal(err)
	}
	a.picture = kept.ID
	a.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{2}) })
	a.sync()
	b.sync()
	b.say(fact(30, "By the other."), memory.Assertion{Memory: memory.ID{3}, Act: memory.ActPin})
	b.erase(4)
	b.sync()
	a.sync()
	a.sync() // this sends what was said again
	b.sync()
	return a, b
}

func (m *member) erase(n byte) {
	m.t.Helper()
	m.say(memory.Assertion{Memory: memory.ID{n}, Act: memory.ActErase})
	m.update(func(tx *store.Tx) error { return tx.Erase(store.Targets{Memories: []memory.ID{{n}}}) })
}

func (m *member) makeSnapshot() {
	m.t.Helper()
	if err := m.Checkpoint(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// When another device has verified a snapshot, the snapshot replaces the
// deltas, whose bodies are dropped. A new device takes the snapshot and goes on
// from its cursor.
func TestSnapshotReplacesDeltas(t *testing.T) {
	a, b := lived(t)
	before := a.bodies()
	a.makeSnapshot()
	if got := a.bodies(); got != before {
		t.Errorf("%d bodies of %d are left, and nobody has verified it", got, before)
	}
	b.again() // this verifies
	if p := b.problems(); len(p) > 0 {
		t.Fatalf("the second objects: %q", p)
	}
	if got := a.bodies(); got != 0 {
		t.Errorf("%d bodies are left", got)
	}
	c := a.let(a.url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	c.sync()
	if !slices.Equal(c.knows(), b.knows()) {
		t.Errorf("the new device knows\n%q, not\n%q", c.knows(), b.knows())
	}
	if a.memory(memory.ID{80}) == nil || c.memory(memory.ID{80}) != nil {
		t.Error("the secret is not where it was said, or elsewhere")
	}
	if s, err := c.Status(t.Context()); err != nil || s.Problems > 0 || s.Cursor == 0 {
		t.Errorf("%+v, %v, %q", s, err, c.problems())
	}
	if m := c.memory(memory.ID{3}); m == nil || !m.Pinned {
		t.Errorf("the pinned: %+v", m)
	}
	if m := c.memory(memory.ID{4}); m != nil && m.Text != "" {
		t.Errorf("the erased: %+v", m)
	}
	// The snapshot says where the picture is and how to open it.
	if err := c.FetchBlob(t.Context(), a.picture); err != nil {
		t.Error(err)
	}
	c.say(fact(40, "By the third."))
	c.sync()
	a.say(fact(41, "By the first, later."))
	a.sync()
	for _, m := range []*member{b, c, a} {
		m.sync()
	}
	if !slices.Equal(c.knows(), a.knows()) || !slices.Equal(b.knows(), a.knows()) || len(a.knows()) < 20 {
		t.Errorf("they differ:\n%q\n%q\n%q", a.knows(), b.knows(), c.knows())
	}
}

// A device that was away while bodies were dropped takes the snapshot when it
// meets the first missing body. What the device said meanwhile is kept.
func TestAwayWhileCompacted(t *testing.T) {
	a, b := lived(t)
	c := a.let(a.url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1000})
	c.sync()
	a.say(fact(50, "While it was away."))
	a.sync()
	b.erase(5)
	b.sync()
	a.sync()
	a.sync()
	b.sync()
	a.makeSnapshot()
	b.again()
	if n := a.bodies(); n != 0 {
		t.Fatalf("%d bodies; %q", n, b.problems())
	}
	c.say(fact(51, "Said while away."))
	c.sync()
	a.sync()
	if !slices.Equal(c.knows(), a.knows()) {
		t.Errorf("it knows\n%q, not\n%q", c.knows(), a.knows())
	}
	if m := c.memory(memory.ID{5}); m != nil && m.Text != "" {
		t.Errorf("erased while it was away: %+v", m)
	}
}

// A snapshot that holds what was forgotten later is replaced, and its parts go
// from the relay.
func TestForgottenInASnapshot(t *testing.T) {
	a, b := lived(t)
	a.makeSnapshot()
	b.again()
	old := a.checkpoints()[0]
	b.erase(9)
	b.sync()
	a.sync()
	b.sync()
	for _, c := range a.checkpoints() {
		if c.Hash() == old.Hash() {
			t.Error("the old checkpoint is there")
		}
	}
	if len(a.checkpoints()) == 0 {
		t.Error("and no new one")
	}
	if _, _, err := a.at.HasBlob(t.Context(), remote.BlobID(old.Manifest)); !errors.Is(err, remote.ErrNotFound) {
		t.Errorf("its manifest: %v", err)
	}
	c := a.let(a.url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	c.sync()
	if m := c.memory(memory.ID{9}); m != nil && m.Text != "" {
		t.Errorf("the forgotten, on a new device: %+v", m)
	}
	if !slices.Equal(c.knows(), b.knows()) || len(c.knows()) < 15 {
		t.Errorf("it knows\n%q, not\n%q; %q", c.knows(), b.knows(), c.problems())
	}
}

func (m *member) checkpointsAt() replica.Checkpoints { return upstream.New(m.at, "") }

// journal returns a journal over the member's store, besides the one that its
// replica has.
func (m *member) journal() *journal.Journal {
	return &journal.Journal{Space: m.ring.Space(), Member: m.ring.Member(), Store: m.store}
}

// If a snapshot says that a memory was erased, its body goes from the relay
// even where the memory is cold on this device.
func TestSnapshotErasesAColdMemory(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	a.say(fact(1, "The kettle is in the hall."))
	a.sync()
	l, ctx := a.journal(), t.Context()
	c := store.Cooling{Covered: 1 << 60, Notes: l.Notes}
	a.update(func(tx *store.Tx) error {
		p, err := tx.MakePack([]memory.ID{{1}}, c)
		if err != nil {
			return err
		}
		if n, err := tx.Freeze(p, []byte("at"), c); n != 1 || err != nil {
			t.Fatalf("%d turned cold, %v: %v", n, err, p.Left)
		}
		return nil
	})
	if err := l.Restore(ctx, []delta.Item{{Erased: []memory.ID{{1}}}}, nil); err != nil {
		t.Fatal(err)
	}
	if f, err := l.Removals(ctx); err != nil || len(f.Bodies) != 1 {
		t.Errorf("to go from the relay: %+v, %v", f, err)
	}
}

// One item of a snapshot may erase more memories than fit into one transaction.
func TestSnapshotErasesMany(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	var ids []memory.ID
	for n := range 1000 {
		ids = append(ids, memory.ID{byte(n / 100), byte(n % 100), 1})
	}
	for page := range slices.Chunk(ids, 100) {
		var as []memory.Assertion
		for _, id := range page {
			f := fact(0, "Fact "+id.String()+".")
			f.Memory = id
			as = append(as, f)
		}
		a.say(as...)
	}
	if err := a.journal().Restore(t.Context(), []delta.Item{{Erased: ids}}, nil); err != nil {
		t.Fatal(err)
	}
	if left := a.knows(); len(left) != 0 {
		t.Errorf("%d are left", len(left))
	}
}
