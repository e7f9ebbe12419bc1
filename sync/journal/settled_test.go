package journal_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// hand is a worker whose deltas a test hands to a journal directly, without a
// relay.
type hand struct {
	t     *testing.T
	grant delta.Grant
	seq   uint64
}

// gives has a journal apply the worker's next delta, and returns how many ops
// are quarantined by then.
func (h *hand) gives(l *journal.Journal, ops ...delta.Op) (aside int) {
	h.t.Helper()
	h.seq++
	id := memory.MemberID{7}
	at := &envelope.Header{Version: envelope.Version, Space: l.Space, Member: id, Incarnation: 1, Seq: h.seq}
	if err := l.Apply(h.t.Context(), replica.Incoming{Author: envelope.Member{ID: id}, Header: at, Ops: ops, Grant: &h.grant}, replica.State{}); err != nil {
		h.t.Fatal(err)
	}
	ps, err := l.Problems(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return len(ps)
}

// from has a journal apply a delta of an owner.
func (h *hand) from(l *journal.Journal, id memory.MemberID, ops ...delta.Op) {
	h.t.Helper()
	at := &envelope.Header{Version: envelope.Version, Space: l.Space, Member: id, Incarnation: 1, Seq: 1}
	if err := l.Apply(h.t.Context(), replica.Incoming{Author: envelope.Member{ID: id}, Header: at, Ops: ops}, replica.State{}); err != nil {
		h.t.Fatal(err)
	}
}

// cites returns a worker's proposal that quotes an utterance.
func cites(n byte, quote string) delta.Op {
	a := fact(n, "Ana likes plums.")
	a.Dot, a.Clock, a.Rank, a.Space = memory.Dot{Member: memory.MemberID{7}, Seq: uint64(n)}, memory.Clock{Wall: int64(n)}, memory.RankCloud, memory.SpaceID{1}
	a.Candidate.Evidence = []memory.Evidence{{Utterance: memory.ID{50}, Excerpt: quote, At: time.Unix(1_790_000_000, 0)}}
	return delta.Op{Assertion: &a}
}

// heard returns a member whose store has the utterance, and its journal.
func heard(t *testing.T) (*member, *journal.Journal) {
	m := newMember(t, serveRelay(t), nil)
	u := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes plums."}
	m.update(func(tx *store.Tx) error { return tx.PutRemoteUtterance(&u) })
	return m, m.journal()
}

// Each thing that a worker cites counts once, whether it was refused or not,
// also on a device that has it from a snapshot.
func TestCitationsAreCounted(t *testing.T) {
	m, l := heard(t)
	h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}, PerEvidence: 2}}
	for range 2 { // it is refused and counted, but only once although it comes twice
		h.seq = 0
		if n := h.gives(l, cites(1, "wine")); n != 1 {
			t.Fatalf("%d were set aside", n)
		}
	}
	if n := h.gives(l, cites(2, "plums")); n != 1 || m.memory(memory.ID{2}) == nil {
		t.Errorf("%d were set aside: the second is one", n)
	}
	var items []delta.Item
	if err := l.EachLive(t.Context(), func(i *delta.Item) error { items = append(items, *i); return nil }); err != nil {
		t.Fatal(err)
	}
	if n := h.gives(l, cites(3, "plums")); n != 2 || m.memory(memory.ID{3}) != nil {
		t.Errorf("%d were set aside: the third is one too many", n)
	}
	fresh, there := heard(t)
	if err := there.Restore(t.Context(), items, nil); err != nil {
		t.Fatal(err)
	}
	if n := h.gives(there, cites(3, "plums")); n != 1 || fresh.memory(memory.ID{3}) != nil {
		t.Errorf("from a snapshot, %d were set aside", n)
	}
}

// All devices agree which numbers of a worker are in use, even if one device
// refused an op that another did not examine because its memory had been
// erased.
func TestDotsOfRefusedOps(t *testing.T) {
	var dots [2][]memory.Dot
	for i := range dots {
		m, l := heard(t)
		erase := func() {
			m.update(func(tx *store.Tx) error { return tx.EraseRemote(store.Targets{Memories: []memory.ID{{1}}}) })
		}
		h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}
		if i == 0 {
			erase()
		}
		if n := h.gives(l, cites(1, "wine")); n != i {
			t.Errorf("%d were set aside, want %d", n, i)
		}
		erase()
		if err := m.store.View(t.Context(), func(tx *store.Tx) (err error) { dots[i], err = tx.LastDots(); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(dots[0], dots[1]) || len(dots[0]) != 1 {
		t.Errorf("in use are %v and %v", dots[0], dots[1])
	}
}

// A worker may change one memory delta.MaxChanges times, and no more often.
func TestChangesPerWorkerAreBounded(t *testing.T) {
	m, l := heard(t)
	h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}
	ops := []delta.Op{cites(1, "plums")}
	for n := range delta.MaxChanges + 1 {
		text := "Ana likes plums, " + string(rune('a'+n%26)) + "."
		ops = append(ops, delta.Op{Assertion: &memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{7}, Seq: uint64(100 + n)}, Clock: memory.Clock{Wall: int64(100 + n)},
			Rank: memory.RankCloud, Space: memory.SpaceID{1}, Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}}})
	}
	if n := h.gives(l, ops...); n != 1 {
		t.Errorf("%d were set aside, want the last", n)
	}
	if got, want := m.memory(memory.ID{1}).Text, *ops[delta.MaxChanges].Assertion.Patch.Text; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// Up to 256 ops of one worker wait. Older ones are not dropped for newer ones.
func TestWaitingOpsAreBounded(t *testing.T) {
	_, l := heard(t)
	h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}
	for range 4 {
		var ops []delta.Op
		for range 100 {
			op := cites(1, "plums")
			op.Assertion.Dot.Seq = uint64(h.seq)<<8 + uint64(len(ops)) + 1
			op.Assertion.Candidate.Evidence[0].Utterance = memory.ID{99}
			ops = append(ops, op)
		}
		h.gives(l, ops...)
	}
	waits := 0
	ps, err := l.Problems(t.Context())
	for _, p := range ps { // the list holds the last 200
		if p.Waits {
			waits++
		}
	}
	if err != nil || waits != 256-200 {
		t.Errorf("of the last %d, %d wait, %v", len(ps), waits, err)
	}
}

// No snapshot is made or verified while something is still to be sent, an op of a
// worker waits, or a memory is cold.
func TestNoSnapshotWhileWorkIsPending(t *testing.T) {
	m, l := heard(t)
	live := func() error { return l.EachLive(t.Context(), func(*delta.Item) error { return nil }) }
	if err := live(); err != nil {
		t.Fatal(err)
	}
	m.say(fact(1, "It rains."))
	if err := live(); !errors.Is(err, replica.ErrUnsettled) {
		t.Errorf("with something to be sent: %v", err)
	}
	m.sync()
	if err := live(); err != nil {
		t.Errorf("when it was sent: %v", err)
	}
	h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}
	early := cites(9, "wine")
	early.Assertion.Candidate.Evidence[0].Utterance = memory.ID{51}
	h.gives(l, early)
	if err := live(); !errors.Is(err, replica.ErrUnsettled) {
		t.Errorf("with something that waits: %v", err)
	}
	h.gives(l, delta.Op{RemovedBodies: []delta.Place{{Member: memory.MemberID{7}, Position: envelope.Position{Incarnation: 1, Seq: 1}}}}) // an op that the waiting one does not wait for
	if err := live(); !errors.Is(err, replica.ErrUnsettled) {
		t.Errorf("with something that still waits: %v", err)
	}
	m.update(func(tx *store.Tx) error { return l.Withdraw(tx, store.Targets{Utterances: []memory.ID{{51}}}) })
	if err := live(); err != nil {
		t.Errorf("when nothing waits: %v", err)
	}
	c := store.Cooling{Covered: 1 << 60, Notes: l.Notes}
	m.update(func(tx *store.Tx) error {
		p, err := tx.MakePack([]memory.ID{{1}}, c)
		if err != nil {
			return err
		}
		_, err = tx.Freeze(p, []byte("at"), c)
		return err
	})
	if err := live(); !errors.Is(err, replica.ErrUnsettled) {
		t.Errorf("with something cold: %v", err)
	}
}

// After a memory was erased, nothing brings its blob back: neither the blob's
// place at the relay nor its content is kept.
func TestBlobOfAnErasedMemory(t *testing.T) {
	m, l := heard(t)
	kept, err := m.store.WriteBlob(t.Context(), bytes.NewReader([]byte("a picture of a plum")))
	if err != nil {
		t.Fatal(err)
	}
	b := delta.Blob{Name: kept.ID.String(), Sealed: envelope.Hash{1}, Size: 19, Key: make([]byte, 32), Memory: memory.ID{1}}
	come := func(seq uint64, op delta.Op) {
		t.Helper()
		id := memory.MemberID{2}
		h := &envelope.Header{Version: envelope.Version, Space: l.Space, Member: id, Incarnation: 1, Seq: seq}
		if err := l.Apply(t.Context(), replica.Incoming{Author: envelope.Member{ID: id}, Header: h, Ops: []delta.Op{op}}, replica.State{}); err != nil {
			t.Fatal(err)
		}
	}
	come(1, delta.Op{Forget: &delta.Forget{Memories: []memory.ID{{1}}}})
	come(2, delta.Op{Blob: &b})
	if _, err := l.RemoteBlob(t.Context(), kept.ID); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("where it lies is known: %v", err)
	}
	if err := l.KeepBlob(t.Context(), b, bytes.NewReader([]byte("a picture of a plum"))); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("it was kept: %v", err)
	}
}

// However many ops of one member are quarantined, the problem that is known of
// another member stays in the list.
func TestProblemsArePerMember(t *testing.T) {
	m, l := heard(t)
	fork := replica.Problem{Member: memory.MemberID{9}, Reason: "there are two histories"}
	if err := l.Quarantine(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	h := &hand{t: t, grant: delta.Grant{}}
	for range 3 {
		ops := make([]delta.Op, 100)
		for i := range ops {
			ops[i] = cites(1, "plums")
		}
		h.gives(l, ops...)
	}
	ps := m.problems()
	if len(ps) != 200 || !slices.Contains(ps, fork.Reason) {
		t.Errorf("%d are kept; the fork: %v", len(ps), slices.Contains(ps, fork.Reason))
	}
}
