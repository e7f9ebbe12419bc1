package journal_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// epochs counts the deltas at the relay that a member's keys open, by the epoch
// in which the delta was sealed. It reads the relay with asked's access,
// because a thief may get the bytes from anywhere.
func (m *member) epochs(asked *member) map[uint32]int {
	m.t.Helper()
	ds, err := asked.at.Placed(m.t.Context(), 0, 1000)
	if err != nil {
		m.t.Fatal(err)
	}
	entries, err := asked.at.Log(m.t.Context(), 0)
	if err != nil {
		m.t.Fatal(err)
	}
	keys := seal.Epochs{}
	for n := uint32(1); n < 10; n++ {
		if k, ok := m.ring.Epoch(m.ring.Space(), n); ok {
			keys[n] = k
		}
	}
	for _, e := range entries { // try every wrap, whomever it names
		for _, w := range e.Wraps {
			got, err := seal.OpenEpochs(m.ring.DeviceIdentity(), m.ring.Space(), w.Keys)
			if err != nil {
				continue
			}
			for n, k := range got {
				keys[n] = k
			}
		}
	}
	open := map[uint32]int{}
	for _, p := range ds {
		d, err := envelope.ParseDelta(p.Delta)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, k := range keys {
			if _, err := seal.OpenBody(k, d.Body); err == nil {
				open[d.Header.Epoch]++
			}
		}
	}
	return open
}

// A removed member can't open anything of a later epoch, even with all its keys
// and all bytes of the relay. The remaining members and later ones can read
// everything.
func TestThreatStolenDeviceUnlocked(t *testing.T) {
	a, b := pair(t)
	c := a.let(a.url, envelope.Writer, nil)
	a.say(fact(1, "In the first epoch."))
	a.sync()
	c.say(fact(2, "By the one who goes."))
	c.sync()
	a.sync()
	if err := a.RemoveMember(t.Context(), c.ring.Member(), nil); err != nil {
		t.Fatal(err)
	}
	a.say(fact(3, "In the second epoch."))
	a.sync()
	if n, err := a.Rotate(t.Context()); err != nil || n != 3 {
		t.Fatalf("rotate: epoch %d, %v", n, err)
	}
	a.say(fact(4, "In the third epoch."))
	a.sync()
	b.sync()
	b.say(fact(5, "By the other, in the third."))
	b.sync()

	if got := fmt.Sprint(c.epochs(a)); got != "map[1:2]" {
		t.Errorf("the removed opens deltas of the epochs %s", got)
	}
	if got := fmt.Sprint(b.epochs(b)); got != "map[1:2 2:1 3:2]" {
		t.Errorf("who stays opens deltas of the epochs %s", got)
	}
	if err := c.Sync(t.Context()); err == nil {
		t.Error("the removed still syncs")
	}
	late := a.let(a.url, envelope.Owner, nil)
	late.sync()
	for n := byte(1); n <= 5; n++ {
		for who, m := range map[string]*member{"the other": b, "who came late": late} {
			if m.memory(memory.ID{n}) == nil {
				t.Errorf("fact %d is not with %s", n, who)
			}
		}
	}
}

// Two owners rotate the keys at the same moment. The second makes its entry
// again, after the first one's, and both owners have both keys. A writer may
// not rotate.
func TestConcurrentRotations(t *testing.T) {
	a, b := pair(t)
	w := a.let(a.url, envelope.Writer, nil)
	a.say(fact(1, "Before."))
	a.sync()
	b.sync()
	var both sync.WaitGroup
	for _, m := range []*member{a, b} {
		both.Go(func() {
			if _, err := m.Rotate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	a.say(fact(2, "After, by one."))
	a.sync()
	b.say(fact(3, "After, by the other."))
	b.sync()
	a.sync()
	for n := byte(1); n <= 3; n++ {
		if a.memory(memory.ID{n}) == nil || b.memory(memory.ID{n}) == nil {
			t.Errorf("fact %d is missing", n)
		}
	}
	if s, err := a.Status(t.Context()); err != nil || s.Epoch != 3 || s.Log != 5 {
		t.Errorf("after two rotations: %+v, %v", s, err)
	}
	if _, err := w.Rotate(t.Context()); !errors.Is(err, envelope.ErrRule) {
		t.Errorf("a writer rotates: %v", err)
	}
	if s, err := a.Status(t.Context()); err != nil || s.Epoch != 3 {
		t.Errorf("after a writer's try: %+v, %v", s, err)
	}
}
