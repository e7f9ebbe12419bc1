package journal_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

func nthID(n int) (id memory.ID) {
	id[0] = 0xee
	binary.BigEndian.PutUint32(id[4:], uint32(n))
	return id
}

// comes delivers ops in a delta of another member, with number n.
func (m *member) comes(n uint64, ops ...delta.Op) error {
	m.t.Helper()
	s, err := m.journal().State(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	who := memory.MemberID{9}
	return m.journal().Apply(m.t.Context(), replica.Incoming{At: time.Now(), Cursor: n, Author: envelope.Member{ID: who, Role: envelope.Owner},
		Header: &envelope.Header{Member: who, Incarnation: 1, Seq: n, Epoch: 1}, Ops: ops}, s)
}

// One op may name more than a transaction can forget, whether it is here or
// not.
func TestForgetOfMany(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	a.say(fact(1, "One of many."))
	a.sync()
	ids := []memory.ID{{1}}
	for i := range 4095 {
		ids = append(ids, nthID(i))
	}
	if err := a.comes(1, delta.Op{Forget: &delta.Forget{Memories: ids}}); err != nil {
		t.Fatal(err)
	}
	if m := a.memory(memory.ID{1}); m == nil || m.State != memory.Erased {
		t.Errorf("%+v", m)
	}
	err := a.store.View(t.Context(), func(tx *store.Tx) error {
		for _, id := range ids {
			if erased, err := tx.Erased(id); err != nil || !erased {
				return fmt.Errorf("%s: %v", id, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A memory with more assertions and blobs than a transaction can remove is
// forgotten.
func TestForgetOfMuch(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	id := memory.ID{1}
	a.say(fact(1, "What is said often."))
	for at := range 10 {
		var as []memory.Assertion
		for i := range 90 {
			as = append(as, memory.Assertion{Memory: id, Act: memory.ActReinforce, Evidence: []memory.Evidence{{Event: memory.EventID{Device: "d", Boot: 1, Seq: uint64(at*90 + i)}}}})
		}
		a.say(as...)
	}
	var ops []delta.Op
	for i := range 2000 {
		ops = append(ops, delta.Op{Blob: &delta.Blob{Name: nthID(i).String(), Sealed: envelope.Hash{1, byte(i), byte(i >> 8)}, Size: 100, Key: slices.Repeat([]byte{byte(i)}, 32), Memory: id}})
	}
	if err := a.comes(1, ops...); err != nil {
		t.Fatal(err)
	}
	err := a.store.Update(t.Context(), func(tx *store.Tx) error { return tx.EraseRemote(store.Targets{Memories: []memory.ID{id}}) })
	if err == nil {
		t.Fatal("everything fitted into one transaction, so the test shows nothing")
	}
	if err := a.comes(2, delta.Op{Forget: &delta.Forget{Memories: []memory.ID{id}}}); err != nil {
		t.Fatal(err)
	}
	if m := a.memory(id); m == nil || m.State != memory.Erased {
		t.Errorf("%+v", m)
	}
	blobs, err := a.journal().Blobs(t.Context())
	if err != nil || len(blobs) > 0 {
		t.Errorf("%d blobs, %v", len(blobs), err)
	}
	doubts, err := a.journal().Doubts(t.Context())
	if err != nil || len(doubts) != 2000 {
		t.Errorf("%d doubts, %v", len(doubts), err)
	}
}

// Forgotten content may be in several deltas of ours whose other content is
// more than a transaction can send again. Each body is removed, and nothing
// else is lost.
func TestForgetInManyDeltas(t *testing.T) {
	a, b := pair(t)
	var others []memory.ID
	for k := range 4 {
		for at := range 4 {
			var as []memory.Assertion
			for i := range 95 {
				f := fact(1, fmt.Sprint("A thing, number ", k, at, i))
				f.Memory = nthID(k*1000 + at*100 + i)
				as, others = append(as, f), append(others, f.Memory)
			}
			switch {
			case at == 0 && k == 0:
				as = append(as, fact(1, "What is said often."))
			case at == 0:
				as = append(as, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActReinforce, Evidence: []memory.Evidence{{Event: memory.EventID{Device: "d", Boot: 1, Seq: uint64(k)}}}})
			}
			a.say(as...)
		}
		a.sync()
	}
	before := a.bodies()
	b.sync()
	b.erase(1)
	b.sync()
	a.sync()
	a.sync()
	if got := a.bodies(); got < before { // its body was removed, and the rest sent again
		t.Errorf("%d bodies, %d before", got, before)
	}
	if f, err := a.journal().Removals(t.Context()); err != nil || len(f.Bodies) > 0 {
		t.Errorf("left: %v, %v", f, err)
	}
	c := a.let(a.url, envelope.Owner, nil)
	c.sync()
	for _, m := range []*member{a, b, c} {
		if m := m.memory(memory.ID{1}); m != nil && m.State != memory.Erased {
			t.Errorf("it is there: %+v", m)
		}
		for _, id := range others {
			if m.memory(id) == nil {
				t.Fatalf("%s is lost", id)
			}
		}
	}
}

// An erasure that was sent may name more, in one delta, than a transaction can
// remove from the notes.
func TestManyErasuresInOneDelta(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	s, err := a.journal().State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines, gone []delta.Op
	for at := 0; at < 4000; at += 50 {
		var ids []memory.ID
		for i := range 50 {
			id := nthID(at + i)
			lines, ids = append(lines, delta.Op{Utterance: &memory.Utterance{ID: id, Text: "a line"}}), append(ids, id)
		}
		gone = append(gone, delta.Op{Forget: &delta.Forget{Utterances: ids}})
	}
	seq := uint64(0)
	for part := range slices.Chunk(lines, 400) {
		seq++
		if err := a.journal().Sent(t.Context(), replica.Entries{}, envelope.Position{Incarnation: 1, Seq: seq}, part, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.journal().Sent(t.Context(), replica.Entries{}, envelope.Position{Incarnation: 1, Seq: seq + 1}, gone, s); err != nil {
		t.Fatal(err)
	}
	f, err := a.journal().Removals(t.Context())
	if err != nil || len(f.Bodies) != 10 {
		t.Errorf("%d bodies are to go, %v, want 10", len(f.Bodies), err)
	}
	if err := a.journal().RecordRemovals(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if f, err = a.journal().Removals(t.Context()); err != nil || len(f.Bodies) != 0 {
		t.Errorf("%d bodies are left, %v", len(f.Bodies), err)
	}
}

// A list of equal blobs may be long. A note has only as many as fit, and the
// others are still found.
func TestManyEqualBlobs(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	key, sealed := slices.Repeat([]byte{1}, 32), envelope.Hash{1}
	const n = 600
	var ops []delta.Op
	for i := range n {
		ops = append(ops, delta.Op{Blob: &delta.Blob{Name: nthID(i).String(), Sealed: sealed, Size: 100, Key: key, Memory: nthID(10_000 + i/300)}})
	}
	if err := a.comes(1, ops...); err != nil {
		t.Fatal(err)
	}
	if p := a.problems(); len(p) > 0 {
		t.Fatal(p)
	}
	if err := a.comes(2, delta.Op{Forget: &delta.Forget{Memories: []memory.ID{nthID(10_000)}}}); err != nil {
		t.Fatal(err)
	}
	if blobs, err := a.journal().Blobs(t.Context()); err != nil || len(blobs) != 1 {
		t.Fatalf("%d blobs, %v", len(blobs), err)
	}
	doubts, err := a.journal().Doubts(t.Context())
	if err != nil || len(doubts) != 1 || doubts[0].Note == nil {
		t.Fatalf("it is named, and nobody finds that: %+v, %v", doubts, err)
	}
	if alike, err := a.journal().NotesByKey(t.Context(), key); err != nil || len(alike) == 0 {
		t.Errorf("none is alike: %v", err)
	}
	if err := a.comes(3, delta.Op{Forget: &delta.Forget{Memories: []memory.ID{nthID(10_001)}}}); err != nil {
		t.Fatal(err)
	}
	doubts, err = a.journal().Doubts(t.Context())
	if err != nil || len(doubts) != 1 || doubts[0].Note != nil {
		t.Errorf("nobody names it: %+v, %v", doubts, err)
	}
}
