package replica

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Of the deltas that a removal leaves out, only those count as shown that were taken here, by their
// hashes.
func TestDeltasTakenBeforeARemoval(t *testing.T) {
	header := func(after envelope.Link, epoch uint32) *envelope.Header {
		return &envelope.Header{Member: memory.MemberID{1}, Incarnation: 5, Seq: after.Seq + 1, Prev: after.Hash, Epoch: epoch}
	}
	one := header(envelope.Link{}, 1)
	two := header(one.Next(), 1)
	three := header(two.Next(), 1)
	other := header(one.Next(), 2)
	key := chainKey(memory.MemberID{1}, 5)
	r := &Replica{st: State{Chains: NewChains(map[string]envelope.Link{key: two.Next()})}}
	for name, c := range map[string]struct {
		shown envelope.Link
		h     *envelope.Header
		want  bool
	}{
		"the first":            {envelope.Link{}, one, true},
		"the last":             {one.Next(), two, true},
		"another in its place": {one.Next(), other, false},
		"beyond":               {two.Next(), three, false},
		"after a gap":          {envelope.Link{}, two, false},
		"twice":                {two.Next(), two, false},
	} {
		shown := map[string]envelope.Link{key: c.shown}
		if got := r.tookBeforeRemoval(c.h, shown); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if want := map[bool]envelope.Link{true: c.h.Next(), false: c.shown}[c.want]; shown[key] != want {
			t.Errorf("%s: shown to %+v", name, shown[key])
		}
	}
}
