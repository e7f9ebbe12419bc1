package replica

import (
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Of the snapshots with missing bodies, a verified one is taken first, then the one with the most
// bodies. A disputed one, one that is wrong, and one without missing bodies are never taken.
func TestChooseSnapshot(t *testing.T) {
	m, other := memory.MemberID{1}, memory.MemberID{2}
	at := func(name byte, standing envelope.Standing, of memory.MemberID, seq uint64) *listed {
		return &listed{Checkpoint: &envelope.Checkpoint{Places: []envelope.Place{{Member: of, Incarnation: 7, Seq: seq}}}, hash: envelope.Hash{name}, standing: standing}
	}
	all := []*listed{at('d', envelope.Disputed, m, 9), at('b', envelope.Verified, m, 9), at('o', envelope.Verified, other, 9), at('e', envelope.Verified, m, 3),
		at('2', envelope.Unverified, m, 5), at('3', envelope.Unverified, m, 6), at('v', envelope.Verified, m, 4)}
	r := &Replica{st: State{MissingBodies: map[string][]uint64{chainKey(m, 7): {4, 5, 6}}}, wrongCheckpoints: map[envelope.Hash]bool{{'b'}: true}}
	var got []byte
	for {
		l := r.bestCovering(all)
		if l == nil {
			break
		}
		got = append(got, l.hash[0])
		all = slices.DeleteFunc(all, func(o *listed) bool { return o == l })
	}
	if string(got) != "v32" {
		t.Errorf("taken: %q", got)
	}
}

// What a snapshot covers counts as read, also if it comes later; another delta at the same place is
// missing.
func TestMissingBodiesAreCovered(t *testing.T) {
	m := memory.MemberID{1}
	h := func(seq uint64, epoch uint32) *envelope.Header {
		return &envelope.Header{Version: envelope.Version, Member: m, Incarnation: 7, Seq: seq, Epoch: epoch}
	}
	s := State{}.clone()
	s.Read.Put(chainKey(m, 7), envelope.Link{Seq: 2, Hash: h(2, 1).Hash()})
	s.noteMissing(h(1, 1))
	s.noteMissing(h(2, 1))
	if countChainPlaces(s.MissingBodies) != 0 {
		t.Errorf("missing, and read: %v", s.MissingBodies)
	}
	s.noteMissing(h(2, 2)) // another delta
	s.noteMissing(h(3, 1))
	if want := []uint64{2, 3}; !slices.Equal(s.MissingBodies[chainKey(m, 7)], want) {
		t.Errorf("missing: %v, want %v", s.MissingBodies, want)
	}
}

// A snapshot of another history than this member has seen is refused.
func TestSnapshotOfAnotherHistory(t *testing.T) {
	s := State{}.clone()
	m := memory.MemberID{1}
	k := chainKey(m, 7)
	s.Chains.Put(k, envelope.Link{Seq: 3, Hash: envelope.Hash{3}})
	s.MissingBodies[k] = []uint64{2}
	c := &envelope.Checkpoint{Places: []envelope.Place{{Member: m, Incarnation: 7, Seq: 3, Hash: envelope.Hash{9}}}}
	if err := s.noteCovered(c); !errors.Is(err, ErrSnapshot) || countChainPlaces(s.MissingBodies) != 1 {
		t.Errorf("another history: %v, %v", err, s.MissingBodies)
	}
	c.Places[0].Hash = envelope.Hash{3}
	if err := s.noteCovered(c); err != nil || countChainPlaces(s.MissingBodies) != 0 {
		t.Errorf("the same: %v, %v", err, s.MissingBodies)
	}
}
