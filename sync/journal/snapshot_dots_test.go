package journal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// A device that joins after the last assertion of another member was forgotten
// never learns that assertion's number. Its snapshot lacks the number, and that
// is no lie.
func TestSnapshotWithoutAForgottenDot(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	b := a.let(a.url, envelope.Owner, nil)
	c := a.let(a.url, envelope.Owner, nil)
	for n := byte(1); n <= 2; n++ {
		a.say(fact(n, "By the first."))
		a.sync()
	}
	b.sync()
	b.erase(2)
	b.sync()
	a.sync() // the forgotten assertion's body goes from the relay
	for _, m := range []*member{c, b, a} {
		m.with(replica.Snapshots{Compact: true, Behind: 100})
		m.sync()
	}
	c.makeSnapshot()
	for _, m := range []*member{b, a} {
		m.again()
		if p := m.problems(); len(p) > 0 {
			t.Errorf("it objects: %q", p)
		}
	}
	if n := a.bodies(); n != 0 {
		t.Errorf("%d bodies are left", n)
	}
	d := a.let(a.url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	d.sync()
	if !slices.Equal(d.knows(), a.knows()) || len(d.knows()) != 1 {
		t.Errorf("the new device knows\n%q, not\n%q", d.knows(), a.knows())
	}
}

// The same holds for the number of a worker, by which its grant is counted. But
// a snapshot that leaves out a living assertion is a lie.
func TestSnapshotWithoutAWorkersDot(t *testing.T) {
	for name, lies := range map[string]bool{"honest": false, "one that lies": true} {
		t.Run(name, func(t *testing.T) { snapshotOfWhoNeverHeardTheWorker(t, lies) })
	}
}

func snapshotOfWhoNeverHeardTheWorker(t *testing.T, lies bool) {
	a := newMember(t, serveRelay(t), nil)
	w := a.let(a.url, envelope.Extractor, &delta.Grant{Types: []memory.Type{memory.Semantic}})
	b := a.let(a.url, envelope.Owner, nil)
	c := a.let(a.url, envelope.Owner, nil)
	said := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, At: time.Unix(1_790_000_000, 0).UTC(), Text: "Ana likes plums."}
	a.update(func(tx *store.Tx) error { return tx.PutUtterance(&said) })
	a.sync()
	for n := byte(10); n <= 11; n++ {
		f := fact(n, "Ana likes plums.")
		f.Rank, f.Candidate.Evidence = memory.RankCloud, []memory.Evidence{{Utterance: said.ID, Excerpt: "likes plums", At: said.At}}
		w.say(f)
		w.sync()
	}
	b.sync()
	b.erase(10)
	b.sync()
	w.sync() // the body goes from the relay
	for _, m := range []*member{c, b, a} {
		m.with(replica.Snapshots{Compact: true, Behind: 100})
		m.sync()
	}
	if c.memory(memory.ID{11}) == nil {
		t.Fatalf("the third has not heard the worker: %q", c.problems())
	}
	if lies {
		c.lies = func(l replica.Archive) replica.Archive {
			return liar{l, func(i *delta.Item) []*delta.Item {
				if i.Cited != nil {
					return nil
				}
				return []*delta.Item{i}
			}}
		}
		c.again()
	}
	c.makeSnapshot()
	b.again()
	if lies {
		b.named("of citations of " + said.ID.String())
	} else if p := b.problems(); len(p) > 0 {
		t.Errorf("it objects: %q", p)
	}
}

// If an erasure was in the same delta as something that is forgotten later, the
// erasure is said again. A device that joins later then keeps out what both
// erasures named.
func TestSnapshotAfterARepeatedErasure(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	b := a.let(a.url, envelope.Owner, nil)
	c := a.let(a.url, envelope.Owner, nil)
	u := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes plums."}
	a.say(fact(1, "By the first."), fact(2, "By the first, too."))
	a.update(func(tx *store.Tx) error { return tx.PutUtterance(&u) })
	a.sync()
	b.sync()
	b.say(fact(30, "By the second."), fact(31, "And that."))
	b.erase(1)
	b.update(func(tx *store.Tx) error { return tx.Erase(store.Targets{Utterances: []memory.ID{u.ID}}) })
	b.sync()
	a.sync()
	a.erase(30)
	a.sync()
	b.sync() // the body goes, and what else was in it is said again
	for _, m := range []*member{c, b, a} {
		m.with(replica.Snapshots{Compact: true, Behind: 100})
		m.sync()
	}
	c.makeSnapshot()
	for _, m := range []*member{b, a} {
		m.again()
		if p := m.problems(); len(p) > 0 {
			t.Errorf("it objects: %q", p)
		}
	}
	if !slices.Equal(c.knows(), a.knows()) || len(c.knows()) != 2 {
		t.Errorf("the third knows\n%q, not\n%q", c.knows(), a.knows())
	}
}
