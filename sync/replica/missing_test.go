package replica

import (
	"math"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

var author = memory.MemberID{1}

// places of the author, in one chain.
func places(seqs ...uint64) (out []delta.Place) {
	for _, seq := range seqs {
		out = append(out, delta.Place{Member: author, Position: envelope.Position{Incarnation: 7, Seq: seq}})
	}
	return out
}

// Changing a next state does not affect the present one until it is saved: a snapshot whose parts
// the relay does not serve covers nothing.
func TestNextStateIsACopy(t *testing.T) {
	k, by := chainKey(author, 7), &envelope.Member{ID: author}
	st := State{}.clone()
	for seq := uint64(1); seq <= 4; seq++ {
		st.noteMissing(&envelope.Header{Member: author, Incarnation: 7, Seq: seq})
	}
	st.Chains.Put(k, envelope.Link{Seq: 4})
	st.takeAnnouncement(by, places(8, 9))
	for name, change := range map[string]func(*State){
		"covered": func(s *State) { s.dropCovered(k, 3); s.dropCovered(k, 8) },
		"told":    func(s *State) { s.takeAnnouncement(by, places(2, 7)) },
		"came":    func(s *State) { removePlace(s.MissingBodies, k, 1); removePlace(s.RemovedBodies, k, 8) },
		"lacking": func(s *State) { s.noteMissing(&envelope.Header{Member: author, Incarnation: 7, Seq: 8}) },
	} {
		next := st.clone()
		change(&next)
		if !slices.Equal(st.MissingBodies[k], []uint64{1, 2, 3, 4}) || !slices.Equal(st.RemovedBodies[k], []uint64{8, 9}) {
			t.Fatalf("%s: it was changed, to %v and %v", name, st.MissingBodies, st.RemovedBodies)
		}
	}
}

// Announcements about places that do not exist take only bounded memory.
func TestAnnouncedPlacesAreBounded(t *testing.T) {
	st := State{}.clone()
	for n := range uint64(5000) {
		st.takeAnnouncement(&envelope.Member{ID: author}, []delta.Place{{Member: author, Position: envelope.Position{Incarnation: math.MaxUint64 - n, Seq: math.MaxUint64}}})
	}
	if n := countPlaces(st.RemovedBodies); n < maxPlaces || n > maxPlaces+100 {
		t.Errorf("%d bytes of %d", n, maxPlaces)
	}
}
