package replica

import (
	"crypto/ed25519"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// A member can't avoid its removal by beginning more chains than a removal can name: the removal
// leaves out the chains of which the least was taken.
func TestRemovalOfAMemberWithManyChains(t *testing.T) {
	gone, other := memory.MemberID{1}, memory.MemberID{2}
	const more = 40
	r := &Replica{}
	for i := range uint64(envelope.MaxIncarnations + more) {
		r.st.Chains.Put(chainKey(gone, i+1), envelope.Link{Seq: 1})
		r.st.Chains.Put(chainKey(other, i+1), envelope.Link{Seq: 9})
	}
	const full = envelope.MaxIncarnations + more/2
	r.st.Chains.Put(chainKey(gone, full), envelope.Link{Seq: 500})
	last := r.lastOf(gone)
	e := &envelope.Entry{Space: memory.SpaceID{3}, N: 2, Prev: envelope.Hash{4}, Author: other, At: 1, Epoch: 2, Action: envelope.Remove, Removed: &gone, Last: last,
		Wraps: []envelope.Wrap{{Keys: []byte{5}}}}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	if err := e.Sign(func(domain string, msg []byte) ([]byte, error) { return keyring.SignWith(key, domain, msg), nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := envelope.ParseEntry(e.Bytes()); err != nil {
		t.Error(err)
	}
	if len(last) != envelope.MaxIncarnations || !e.Accepts(envelope.Position{Incarnation: full, Seq: 500}) {
		t.Errorf("%d positions, without the one of which most was taken", len(last))
	}
	if e.Accepts(envelope.Position{Incarnation: full, Seq: 501}) || !e.Accepts(envelope.Position{Incarnation: 1, Seq: 1}) || e.Accepts(envelope.Position{Incarnation: full + 1, Seq: 1}) {
		t.Error("of those with as much the first are named, each as far as it was taken")
	}
}
