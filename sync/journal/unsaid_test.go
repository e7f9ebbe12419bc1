package journal_test

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// takesAway has the relay drop the body of the member's only delta of an
// incarnation, and the member never says so in a delta.
func (m *member) takesAway() {
	m.t.Helper()
	m.sayGone(envelope.Place{Member: m.ring.Member(), Incarnation: 7, Seq: 9}) // the content does not matter
	if err := upstream.New(m.at, "").Forget(m.t.Context(), []replica.Ref{{Member: m.ring.Member(), Position: envelope.Position{Incarnation: 99, Seq: 1}}}); err != nil {
		m.t.Fatal(err)
	}
}

// If a worker takes a body of its own away and does not say so, that does not
// keep forgotten blobs at the relay. If a writer does so, it does: the missing
// delta may have named a blob.
func TestUnannouncedRemovalKeepsNoBlob(t *testing.T) {
	for role, stays := range map[envelope.Role]bool{envelope.Extractor: false, envelope.Writer: true} {
		a, b := pair(t)
		w := a.let(a.url, role, &delta.Grant{Types: memory.Types[:]})
		x := &alike{t, a, b, []byte("a plum that is forgotten")}
		one := x.at(x.keep(b, 1))
		w.takesAway()
		a.sync()
		if len(a.withheld()) != 1 {
			t.Fatalf("%s: named: %q", role, a.withheld())
		}
		x.erase(a, 1)
		if x.has(one) != stays {
			t.Errorf("%s: it is there: %t", role, !stays)
		}
		_, heard, err := a.journal().NamedBlobs(t.Context())
		if err != nil || heard == 0 != stays {
			t.Errorf("%s: heard up to %d, %v", role, heard, err)
		}
	}
}

// After such a worker is removed, a space's only device gives up the body that
// it never read, and makes snapshots again. If there are other devices, it
// waits, since one of them may have read the body and have it in its snapshot.
func TestUnannouncedRemovalOfARemovedWorker(t *testing.T) {
	for name, alone := range map[string]bool{"alone": true, "one of two": false} {
		a := newMember(t, serveRelay(t), nil)
		a.close()
		a.snap = &replica.Snapshots{}
		a.open()
		if !alone {
			a.let(a.url, envelope.Owner, nil)
		}
		w := a.let(a.url, envelope.Extractor, &delta.Grant{})
		a.say(fact(1, "By a."))
		a.sync()
		w.takesAway()
		a.sync()
		if len(a.withheld()) != 1 || a.Checkpoint(t.Context()) == nil {
			t.Fatalf("%s: named: %q", name, a.withheld())
		}
		if err := a.RemoveMember(t.Context(), w.ring.Member(), nil); err != nil {
			t.Fatal(err)
		}
		a.sync()
		if given := len(a.withheld()) == 0; given != alone {
			t.Errorf("%s: named: %q", name, a.withheld())
		}
		if err := a.Checkpoint(t.Context()); (err == nil) != alone {
			t.Errorf("%s: checkpoint: %v", name, err)
		}
		if !alone {
			continue
		}
		late := a.let(a.url, envelope.Owner, nil)
		late.sync()
		if len(late.withheld()) != 0 || late.memory(memory.ID{1}) == nil {
			t.Errorf("who comes later: %q", late.withheld())
		}
	}
}
