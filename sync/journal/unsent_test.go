package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
)

// What left the outbox but is in no delta, as when the outbox's entries are
// lost, is said again, and so are erasures. What was sent is not.
func TestUnsentAssertionsAreSentAgain(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "The kettle whistles."), fact(2, "The plums are ripe."))
	a.sync()
	b.sync()
	say := func(lost func(envelope.Position) bool, erasures bool) int {
		t.Helper()
		n, cold, err := a.journal().RequeueUnsent(t.Context(), lost, erasures)
		if err != nil || len(cold) > 0 {
			t.Fatal(cold, err)
		}
		a.sync()
		b.sync()
		return n
	}
	if n := say(nil, false); n != 0 {
		t.Errorf("%d things of which all were sent", n)
	}
	picture, err := a.store.WriteBlob(t.Context(), bytes.NewReader([]byte("a picture")))
	if err != nil {
		t.Fatal(err)
	}
	a.say(fact(3, "It rains."), memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin})
	a.update(func(tx *store.Tx) error {
		return errors.Join(tx.PutUtterance(&memory.Utterance{ID: memory.ID{7}, Text: "Tea is ready.", Space: a.ring.Space()}), tx.KeepBlob(picture, memory.ID{3}))
	})
	a.update(func(tx *store.Tx) error {
		var lost []uint64 // entries that leave the outbox without being sent
		for o, err := range tx.Outbox(0) {
			if err != nil {
				return err
			}
			lost = append(lost, o.Seq)
		}
		return errors.Join(tx.Erase(store.Targets{Memories: []memory.ID{{2}}}), tx.Sent(lost...))
	})
	a.sync()
	b.sync()
	if b.memory(memory.ID{3}) != nil {
		t.Fatal("nothing was lost: the test shows nothing")
	}
	if n := say(nil, true); n != 5 { // two assertions, the utterance, the blob, the erasure
		t.Errorf("%d things were said again", n)
	}
	if m := b.memory(memory.ID{1}); m == nil || !m.Pinned {
		t.Errorf("%+v", m)
	}
	if m := b.memory(memory.ID{2}); m == nil || m.State != memory.Erased {
		t.Errorf("what was erased: %+v", m)
	}
	if b.memory(memory.ID{3}) == nil {
		t.Error("the third has not come")
	}
	err = b.store.View(t.Context(), func(tx *store.Tx) error { _, err := tx.Utterance(memory.ID{7}); return err })
	if err != nil {
		t.Error(err)
	}
	if _, err := b.journal().RemoteBlob(t.Context(), picture.ID); err != nil {
		t.Error(err)
	}
	if n := say(nil, false); n != 0 {
		t.Errorf("%d things, though all were said again", n)
	}
	// A delta that was sent but is nowhere any more.
	a.say(fact(4, "The tram is late."))
	a.sync()
	last := uint64(0)
	if n := say(func(p envelope.Position) bool { last = max(last, p.Seq); return false }, false); n != 0 || last == 0 {
		t.Errorf("%d things, none of which is lost; up to %d", n, last)
	}
	if n := say(func(p envelope.Position) bool { return p.Seq == last }, false); n != 1 {
		t.Errorf("%d things of a delta that is nowhere", n)
	}
	if n := say(func(p envelope.Position) bool { return p.Seq == last }, false); n != 0 {
		t.Errorf("%d assertions are sent a second time", n)
	}
}
