package replica

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// A snapshot that covers less than was taken here, or another history of a member, changes no
// position.
func TestSnapshotBehindThePosition(t *testing.T) {
	m, hash := memory.MemberID{1}, envelope.Hash{3}
	r := &Replica{log: new(envelope.State), st: State{Cursor: 5, Chains: NewChains(map[string]envelope.Link{chainKey(m, 7): {Seq: 3, Hash: hash}})}}
	for name, tt := range map[string]struct {
		cursor uint64
		place  envelope.Place
		ok     bool
	}{
		"as far":          {5, envelope.Place{Seq: 3, Hash: hash}, true},
		"farther":         {9, envelope.Place{Seq: 4, Hash: envelope.Hash{4}}, true},
		"an older cursor": {4, envelope.Place{Seq: 3, Hash: hash}, false},
		"a shorter chain": {9, envelope.Place{Seq: 2, Hash: envelope.Hash{2}}, false},
		"another history": {9, envelope.Place{Seq: 3, Hash: envelope.Hash{9}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.place.Member, tt.place.Incarnation = m, 7
			next, err := r.stateAfter(&listed{Checkpoint: &envelope.Checkpoint{Cursor: tt.cursor, Places: []envelope.Place{tt.place}}})
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrSnapshot) {
				t.Errorf("%v", err)
			}
			if tt.ok && (next.Cursor != tt.cursor || next.Chains.Link(chainKey(m, 7)).Seq != tt.place.Seq) {
				t.Errorf("it goes on from %+v", next)
			}
		})
	}
}
