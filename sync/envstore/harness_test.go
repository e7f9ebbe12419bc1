package envstore

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// actor is somebody who signs.
type actor struct {
	id  memory.MemberID
	key ed25519.PrivateKey
}

func newActor(name string) actor {
	seed := sha256.Sum256([]byte("locket shelf test " + name))
	a := actor{key: ed25519.NewKeyFromSeed(seed[:])}
	copy(a.id[:], name+"--------")
	return a
}

var (
	root    = actor{key: newActor("root").key}
	phone   = newActor("phone")
	watch   = newActor("watch")
	theirs  = newActor("stranger")
	spaceID = memory.SpaceID{1, 2, 3}
)

func (a actor) member() *envelope.Member {
	return &envelope.Member{ID: a.id, Key: a.key.Public().(ed25519.PublicKey), Recipient: "age1pq1" + string(a.id[:]), Role: envelope.Owner}
}

// world makes the log of a space of two owners.
func world(t *testing.T) (log []*envelope.Entry, state *envelope.State) {
	t.Helper()
	state = new(envelope.State)
	add := func(by actor, e *envelope.Entry) {
		e.Version, e.Space, e.N, e.Prev, e.Author, e.At, e.Epoch = envelope.Version, spaceID, state.N()+1, state.Head(), by.id, 1_790_000_000, 1
		if err := errors.Join(e.Sign(envelope.KeySigner(by.key)), state.Append(e)); err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	wrap := func(ids ...memory.MemberID) (out []envelope.Wrap) {
		for _, id := range ids {
			out = append(out, envelope.Wrap{To: id, Keys: []byte("keys")})
		}
		return out
	}
	add(root, &envelope.Entry{Action: envelope.Found, Root: root.key.Public().(ed25519.PublicKey), Recovery: "age1pq1recovery", Member: phone.member(),
		Wraps: wrap(memory.MemberID{}, phone.id)})
	add(phone, &envelope.Entry{Action: envelope.Add, Member: watch.member(), Wraps: wrap(watch.id)})
	return log, state
}

// author makes one statement after another.
type author struct {
	actor
	state *envelope.State
	last  envelope.Link
	inc   uint64
}

func (a *author) say(t *testing.T, text string) *envelope.Delta {
	t.Helper()
	h := envelope.Header{Version: envelope.Version, Space: spaceID, Member: a.id, Incarnation: a.inc + 1, Seq: a.last.Seq + 1, Prev: a.last.Hash,
		Head: a.state.Head(), Epoch: 1}
	d, err := envelope.Sign(h, []byte(text), envelope.KeySigner(a.key))
	if err != nil {
		t.Fatal(err)
	}
	a.last = d.Header.Next()
	return d
}

func newStore(t *testing.T, dir string, log []*envelope.Entry) *Store {
	t.Helper()
	s, err := Open(dir, log[0].Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log {
		if err := s.TakeEntry(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func take(t *testing.T, s *Store, ds ...*envelope.Delta) {
	t.Helper()
	for _, d := range ds {
		if _, err := s.TakeDelta(d); err != nil {
			t.Fatal(err)
		}
	}
}

// bodies returns the bodies in a store, in a fixed order.
func bodies(t *testing.T, s *Store) string {
	t.Helper()
	var out []string
	seen := map[replica.Ref]bool{}
	for _, r := range s.since(0) {
		if seen[r] {
			continue
		}
		seen[r] = true
		d, err := s.read(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s/%d=%s", r.Member, r.Seq, d.Body))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
