package journal_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// begins sends the first delta of each of n chains, with one fact each, like a member that begins
// one life after another. It returns how many of them the relay took.
func (m *member) begins(n int) (taken int, err error) {
	m.t.Helper()
	log, err := m.at.Log(m.t.Context(), 0)
	if err != nil {
		m.t.Fatal(err)
	}
	key, _ := m.ring.Epoch(m.ring.Space(), 1)
	for i := range n {
		h := envelope.Header{Version: envelope.Version, Space: m.ring.Space(), Member: m.ring.Member(), Incarnation: uint64(1000 + i), Seq: 1,
			Head: log[len(log)-1].Hash(), Epoch: 1}
		said := fact(1, "One of very many.")
		said.Space, said.Rank, said.Clock = h.Space, memory.RankPerson, m.tick.Tick()
		said.Dot = memory.Dot{Member: h.Member, Seq: uint64(1000 + i)}
		copy(said.Memory[:], h.Member[:])
		binary.BigEndian.PutUint32(said.Memory[8:], uint32(i))
		plain, err := delta.Encode(h, []delta.Op{{Assertion: &said}})
		if err != nil {
			m.t.Fatal(err)
		}
		body, err := seal.SealBody(key, plain)
		if err != nil {
			m.t.Fatal(err)
		}
		d, err := envelope.Sign(h, body, m.ring.DeviceSign)
		if err != nil {
			m.t.Fatal(err)
		}
		if _, err := m.at.Append(m.t.Context(), []*envelope.Delta{d}); err != nil {
			return i, err
		}
	}
	return n, nil
}

// The relay stops members that begin one chain after another. They can't
// prevent the others' snapshots, compaction and comparison of heads.
func TestMembersOfManyChains(t *testing.T) {
	a, b := pair(t)
	for _, m := range []*member{a, b} {
		m.with(replica.Snapshots{Compact: true, Behind: 1 << 20})
	}
	first, second := a.let(a.url, envelope.Writer, nil), a.let(a.url, envelope.Writer, nil)
	a.say(fact(1, "By the first."))
	a.sync()
	b.say(fact(2, "By the second."))
	b.sync()
	for _, m := range []*member{first, second} {
		if n, err := m.begins(1000); n != envelope.MaxIncarnations || !errors.Is(err, remote.ErrChains) {
			t.Fatalf("%d were taken, then %v", n, err)
		}
	}
	a.sync()
	b.sync()
	a.makeSnapshot()
	cs := a.checkpoints()
	if len(cs) != 1 || len(cs[0].Places) != 2*envelope.MaxIncarnations+2 {
		t.Fatalf("%d checkpoints", len(cs))
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
	if !slices.Equal(c.knows(), a.knows()) {
		t.Error("the new device knows something else")
	}

	// Each chain counts in heads: a fork of the last one is found.
	b.sync()
	h := b.heads()
	if len(h.Places) != len(cs[0].Places) {
		t.Fatalf("heads of %d chains", len(h.Places))
	}
	if ds := a.beside(h); len(ds) != 0 {
		t.Fatalf("the same: %v", ds)
	}
	h.Places[len(h.Places)-1].Hash[0] ^= 1
	if err := h.Sign(b.ring.DeviceSign); err != nil {
		t.Fatal(err)
	}
	if ds := a.beside(h); len(ds) != 1 || ds[0].Verdict != replica.Forked {
		t.Errorf("a fork: %v", ds)
	}

	// A removal can name all of them, and leaves nothing out.
	if err := a.RemoveMember(t.Context(), first.ring.Member(), nil); err != nil {
		t.Fatal(err)
	}
	a.say(fact(3, "Afterwards."))
	a.sync()
	a.makeSnapshot()
}
