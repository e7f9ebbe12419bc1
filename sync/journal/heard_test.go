package journal_test

import (
	"math"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

func (m *member) contact(other *member) replica.Contact {
	m.t.Helper()
	all, err := m.Contacts(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return all[other.ring.Member()]
}

// recent reports whether a time is within this test, and not in the future.
func recent(at time.Time) bool {
	return at.After(time.Now().Add(-time.Minute)) && !at.After(time.Now())
}

// The test checks who was heard and when, by each member's own clock as far as
// it is believed.
func TestLastHeardOfMembers(t *testing.T) {
	a, b := pair(t)
	if c := a.contact(b); !recent(c.Added) || !c.Heard.IsZero() {
		t.Errorf("before anything is said: %+v", c)
	}
	b.say(fact(1, "Now."))
	b.sync()
	a.sync()
	c := a.contact(b)
	if !recent(c.Heard) {
		t.Errorf("after something was said: %+v", c)
	}
	a.close()
	a.open() // it is stored
	if again := a.contact(b); again != c {
		t.Errorf("after a restart: %+v, %+v", again, c)
	}
}

// A device without memories of its own is heard by its log entries, by its
// votes, and by its heads. A device that only reads is not heard.
func TestLastHeardWithoutDeltas(t *testing.T) {
	t.Run("log", func(t *testing.T) {
		a, b := pair(t)
		b.sync()
		if _, err := b.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a.sync(); !recent(a.contact(b).Heard) {
			t.Errorf("%+v", a.contact(b))
		}
	})
	t.Run("vote", func(t *testing.T) {
		a, b := pair(t)
		a.with(replica.Snapshots{Compact: true, Behind: 1})
		b.with(replica.Snapshots{Compact: true, Behind: 1})
		a.say(fact(1, "By one alone."))
		a.sync()
		if b.sync(); !a.contact(b).Heard.IsZero() {
			t.Errorf("only listening: %+v", a.contact(b))
		}
		a.makeSnapshot()
		b.again()
		if a.again(); !recent(a.contact(b).Heard) {
			t.Errorf("%+v, %q", a.contact(b), b.problems())
		}
		if !recent(b.contact(a).Heard) {
			t.Errorf("who made it: %+v", b.contact(a))
		}
	})
	t.Run("heads", func(t *testing.T) {
		a, b := pair(t)
		b.sync()
		h := b.heads()
		h.Member = memory.MemberID{9} // of an unknown member
		h.Log++
		if _, err := a.Compare(t.Context(), h, true); err != nil {
			t.Fatal(err)
		}
		if all, err := a.Contacts(t.Context()); err != nil || !all[h.Member].Heard.IsZero() {
			t.Errorf("a stranger is heard: %+v, %v", all, err)
		}
		h = b.heads()
		h.At = math.MaxInt32 << 20 // ahead of every clock, so it counts as now
		if err := h.Sign(b.ring.DeviceSign); err != nil {
			t.Fatal(err)
		}
		a.beside(h)
		a.close()
		if a.open(); !recent(a.contact(b).Heard) {
			t.Errorf("%+v", a.contact(b))
		}
	})
}

// If a relay makes up a vote, nobody is heard by it, and nobody is said to have anything.
func TestLastHeardIgnoresForgedVotes(t *testing.T) {
	a, b := pair(t)
	a.with(replica.Snapshots{Compact: true, Behind: 1})
	a.say(fact(1, "By one alone."))
	a.sync()
	a.makeSnapshot()
	lies := func(held []replica.Listed) []replica.Listed {
		for i := range held {
			c, err := envelope.ParseCheckpoint(held[i].Checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			v := &envelope.Vote{Space: c.Space, Member: b.ring.Member(), Checkpoint: c.Hash(), Verdict: envelope.Agree, Head: c.Head}
			if err := v.Sign(a.ring.DeviceSign); err != nil { // by a key that is not b's
				t.Fatal(err)
			}
			held[i].Votes = append(held[i].Votes, v.Bytes())
		}
		return held
	}
	a.close()
	a.with(replica.Snapshots{At: shown{a.checkpointsAt(), lies}, Compact: true, Behind: 1})
	if a.again(); !a.contact(b).Heard.IsZero() || !a.contact(b).Reach.At.IsZero() {
		t.Errorf("%+v", a.contact(b))
	}
}

// It is known what a device has once it says so; what came later is not counted.
func TestWhatAMemberHas(t *testing.T) {
	t.Run("vote", func(t *testing.T) {
		a, b := pair(t)
		a.with(replica.Snapshots{Compact: true, Behind: 1})
		b.with(replica.Snapshots{Compact: true, Behind: 1})
		a.say(fact(1, "By one alone."))
		a.sync()
		b.sync()
		if r := a.contact(b).Reach; r != (replica.Reach{Others: 1}) {
			t.Errorf("b only listened: %+v", r)
		}
		a.makeSnapshot()
		b.again()
		a.again()
		if r := a.contact(b).Reach; r.Own != 0 || r.Others != 1 || r.Confirmed != 1 || !recent(r.At) {
			t.Errorf("b agreed with a snapshot: %+v", r)
		}
		if r := b.contact(a).Reach; r.Own != 1 || r.Others != 0 || r.Confirmed != 0 || !recent(r.At) {
			t.Errorf("a made it: %+v", r)
		}
		a.say(fact(2, "And another."))
		a.sync()
		a.close()
		a.open()
		if r := a.contact(b).Reach; r.Others != 2 || r.Confirmed != 1 {
			t.Errorf("another since: %+v", r)
		}
	})
	t.Run("heads", func(t *testing.T) {
		a, b := pair(t)
		a.say(fact(1, "One."))
		a.sync()
		b.say(fact(2, "Two."))
		b.sync()
		h := b.heads()
		a.say(fact(3, "Three."))
		a.sync()
		a.beside(h)
		if r := a.contact(b).Reach; r.Own != 1 || r.Others != 2 || r.Confirmed != 1 || !recent(r.At) {
			t.Errorf("%+v", r)
		}
		h.Places[0].Hash[0]++ // a history of its own
		h.At++
		if err := h.Sign(b.ring.DeviceSign); err != nil {
			t.Fatal(err)
		}
		before := a.contact(b).Reach
		a.beside(h)
		if r := a.contact(b).Reach; r != before {
			t.Errorf("of another history: %+v, before %+v", r, before)
		}
	})
}

// A removed member is not heard merely by its entry in the log.
func TestLastHeardOfARemovedMember(t *testing.T) {
	a, b := pair(t)
	c := a.let(a.url, envelope.Writer, nil)
	if err := a.RemoveMember(t.Context(), c.ring.Member(), nil); err != nil {
		t.Fatal(err)
	}
	b.sync()
	if got := b.contact(c); !got.Heard.IsZero() || got.Added.IsZero() {
		t.Errorf("%+v", got)
	}
	if !recent(b.contact(a).Heard) {
		t.Errorf("who removed it: %+v", b.contact(a))
	}
}
