package peer

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// actor is somebody who signs.
type actor struct {
	id  memory.MemberID
	key ed25519.PrivateKey
}

func newActor(name string) actor {
	seed := sha256.Sum256([]byte("locket peer test " + name))
	a := actor{key: ed25519.NewKeyFromSeed(seed[:])}
	copy(a.id[:], name+"--------")
	return a
}

var (
	root     = actor{key: newActor("root").key}
	phone    = newActor("phone")
	reader   = newActor("reader")
	stranger = newActor("stranger")
	spaceID  = memory.SpaceID{1, 2, 3}
)

func (a actor) member(role envelope.Role) *envelope.Member {
	return &envelope.Member{ID: a.id, Key: a.key.Public().(ed25519.PublicKey), Recipient: "age1pq1" + string(a.id[:]), Role: role}
}

// served is the envelope store of a space that a phone and a reader belong to, on a server.
type served struct {
	*envstore.Store
	state  *envelope.State
	first  *envelope.Entry
	second *envelope.Entry
	server *Server
	url    string
}

var ours = []byte("a key of thirty-two bytes or so.")

func serve(t *testing.T) *served {
	t.Helper()
	h := &served{state: new(envelope.State)}
	var all []*envelope.Entry
	add := func(by actor, e *envelope.Entry) {
		e.Version, e.Space, e.N, e.Prev, e.Author, e.At, e.Epoch = envelope.Version, spaceID, h.state.N()+1, h.state.Head(), by.id, 1_790_000_000, 1
		if err := errors.Join(e.Sign(envelope.KeySigner(by.key)), h.state.Append(e)); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	add(root, &envelope.Entry{Action: envelope.Found, Root: root.key.Public().(ed25519.PublicKey), Recovery: "age1pq1recovery", Member: phone.member(envelope.Owner),
		Wraps: []envelope.Wrap{{Keys: []byte("keys")}, {To: phone.id, Keys: []byte("keys")}}})
	add(phone, &envelope.Entry{Action: envelope.Add, Member: reader.member(envelope.Reader), Wraps: []envelope.Wrap{{To: reader.id, Keys: []byte("keys")}}})
	s, err := envstore.Open(t.TempDir(), all[0].Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.TakeEntry(all[1]); err != nil {
		t.Fatal(err)
	}
	h.first, h.second = all[0], all[1]
	h.Store, h.server = s, &Server{Envelopes: s, Self: phone.id, Key: func() []byte { return ours }}
	web := httptest.NewServer(h.server.Handler())
	t.Cleanup(web.Close)
	h.url = web.URL
	return h
}

// as returns the space at the peer, as an actor sees it.
func (h *served) as(t *testing.T, a actor) replica.Remote {
	t.Helper()
	r, err := remote.New(h.url, remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return upstream.New(r.Space(spaceID, a.id, httpsig.KeySigner(a.key)), "")
}

func (h *served) delta(t *testing.T, by actor, text string) *envelope.Delta {
	t.Helper()
	d, err := envelope.Sign(envelope.Header{Version: envelope.Version, Space: spaceID, Member: by.id, Incarnation: 1, Seq: 1, Head: h.state.Head(), Epoch: 1},
		[]byte(text), envelope.KeySigner(by.key))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
