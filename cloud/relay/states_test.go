package relay

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// stateOf returns the state of a new space, whose account has a number.
func stateOf(t *testing.T, account byte) *envelope.State {
	t.Helper()
	seed := sha256.Sum256([]byte{account})
	root := ed25519.NewKeyFromSeed(seed[:])
	seed[0]++
	owner := envelope.Member{ID: memory.MemberID{1}, Key: ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey), Recipient: strings.Repeat("a", 1900), Role: envelope.Owner}
	e := &envelope.Entry{Space: memory.SpaceID{1}, N: 1, Action: envelope.Found, Epoch: 1, At: 1_790_000_000, Root: root.Public().(ed25519.PublicKey), Recovery: "recovery", Member: &owner,
		Wraps: []envelope.Wrap{{To: memory.MemberID{}, Keys: []byte("sealed")}, {To: owner.ID, Keys: []byte("sealed")}}}
	if err := e.Sign(envelope.KeySigner(root)); err != nil {
		t.Fatal(err)
	}
	s, err := envelope.VerifyLog([]*envelope.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Many accounts have few spaces each. When all their states take too much memory, room is made for
// many at once, because it takes a look at each of them while all requests wait.
func TestRoomForManyStates(t *testing.T) {
	r := New(nil, Config{})
	var all [200]*envelope.State
	for i := range all {
		all[i] = stateOf(t, byte(i))
	}
	made, before := 0, 0
	for n := range uint32(20_000) {
		before = r.states.weight
		r.cacheState(memory.SpaceID(binary.BigEndian.AppendUint32(make([]byte, 12), n)), all[n%200])
		if r.states.weight > maxStates {
			t.Fatalf("%d bytes after %d", r.states.weight, n)
		}
		if r.states.weight < before {
			made++
		}
	}
	if made == 0 || made > 4 {
		t.Errorf("room was made %d times", made)
	}
}

// An account with many spaces loses some of their states, and others lose nothing.
func TestStatesOfTheHeaviestAreDropped(t *testing.T) {
	r := New(nil, Config{})
	small, heavy := stateOf(t, 1), stateOf(t, 2)
	const few = 100
	for n := range uint32(20_000) {
		s := heavy
		if n < few {
			s = small
		}
		r.cacheState(memory.SpaceID(binary.BigEndian.AppendUint32(make([]byte, 12), n)), s)
	}
	left := 0
	for _, s := range r.states.bySpace {
		if s == small {
			left++
		}
	}
	if left != few || r.states.weight > maxStates || r.states.weight < maxStates/2 {
		t.Errorf("%d of %d are left, and %d bytes", left, few, r.states.weight)
	}
}
