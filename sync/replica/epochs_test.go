package replica_test

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// No rotation, by hand or by the clock, begins an epoch after which no member could be added; a
// removal still may.
func TestRotationsLeaveRoomForAMember(t *testing.T) {
	_, root, _ := ed25519.GenerateKey(nil)
	_, device, _ := ed25519.GenerateKey(nil)
	p := &party{id: memory.MemberID{1}, sign: device, pair: seal.NewIdentity(), space: memory.SpaceID{1}, epochs: seal.Epochs{}}
	at, log := &shown{}, new(envelope.State)
	other := memory.MemberID{2}
	_, theirs, _ := ed25519.GenerateKey(nil)
	member := func(id memory.MemberID, key ed25519.PrivateKey, pair *seal.Identity, role envelope.Role) *envelope.Member {
		return &envelope.Member{ID: id, Key: key.Public().(ed25519.PublicKey), Recipient: pair.Recipient().String(), Role: role}
	}
	add := func(e envelope.Entry, to ...memory.MemberID) {
		e.Version, e.Space, e.N, e.Prev = envelope.Version, p.space, log.N()+1, log.Head()
		for _, id := range to {
			e.Wraps = append(e.Wraps, envelope.Wrap{To: id, Keys: []byte("sealed")}) // its reader has the keys
		}
		if err := errors.Join(e.Sign(envelope.KeySigner(root)), log.Append(&e)); err != nil {
			t.Fatal(err)
		}
		at.log = append(at.log, e.Bytes())
	}
	add(envelope.Entry{Action: envelope.Found, Epoch: 1, Root: root.Public().(ed25519.PublicKey), Recovery: seal.NewIdentity().Recipient().String(),
		Member: member(p.id, device, p.pair, envelope.Owner)}, memory.MemberID{}, p.id)
	add(envelope.Entry{Action: envelope.Add, Epoch: 1, Member: member(other, theirs, seal.NewIdentity(), envelope.Writer)}, other)
	for n := uint32(2); n <= envelope.MaxEpochs; n++ {
		add(envelope.Entry{Action: envelope.Rekey, Epoch: n}, memory.MemberID{}, p.id, other)
	}
	for n := range uint32(envelope.MaxEpochs) {
		p.epochs[n+1] = seal.NewKey()
	}
	r, _ := replicaOf(t, p, at)
	if err := r.Sync(t.Context()); err != nil { // by its clock, the epoch is old
		t.Fatal(err)
	}
	if s, err := r.Status(t.Context()); err != nil || s.Epoch != envelope.MaxEpochs {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := r.Rotate(t.Context()); !errors.Is(err, envelope.ErrRule) {
		t.Errorf("by hand: %v", err)
	}
	if err := r.RemoveMember(t.Context(), other, nil); err != nil {
		t.Errorf("a removal: %v", err)
	}
	if s, err := r.Status(t.Context()); err != nil || s.Epoch != envelope.MaxEpochs+1 {
		t.Errorf("after the removal: %+v, %v", s, err)
	}
}
