package journal_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
)

// A worker announces as many removed bodies as fit into a delta, at places that
// do not exist. This must not stop anybody.
func TestFloodOfAnnouncements(t *testing.T) {
	a, b := pair(t)
	worker := a.let(a.url, envelope.Extractor, &delta.Grant{})
	places := make([]envelope.Place, delta.MaxRemovedBodies)
	for i := range places {
		places[i] = envelope.Place{Member: worker.ring.Member(), Incarnation: math.MaxUint64 - uint64(len(places)-i), Seq: math.MaxUint64}
	}
	worker.sayGone(places...)
	a.say(fact(1, "By a."))
	a.sync()
	b.sync()
	if b.memory(memory.ID{1}) == nil {
		t.Error("what came after it was not taken")
	}
	words := rand.New(rand.NewPCG(1, 2))
	for n := byte(2); n < 100; n++ {
		text := make([]byte, 1500)
		for i := range text {
			text[i] = byte('!' + words.IntN(90))
		}
		b.say(fact(n, string(text)))
	}
	b.sync()
	a.sync()
	if a.memory(memory.ID{99}) == nil {
		t.Error("what it had to send did not go")
	}
}

// An announcement that came before its delta is dropped when the delta comes
// with its body.
func TestAnnouncementBeforeItsDelta(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "By a."))
	a.sync()
	b.sync()
	next := a.heads().Places[0]
	next.Seq++
	a.let(a.url, envelope.Owner, nil).sayGone(next)
	b.sync()
	words := func() int {
		st, err := (&journal.Journal{Space: b.ring.Space(), Store: b.store}).State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(st.RemovedBodies)
	}
	if words() != 1 {
		t.Fatal("the word is not kept")
	}
	a.say(fact(2, "By a, too."))
	a.sync()
	b.sync()
	if words() != 0 || b.memory(memory.ID{2}) == nil {
		t.Error("the body came, and the word is kept")
	}
}
