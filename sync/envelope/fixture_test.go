package envelope

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// actor is somebody who signs: its key is made from its name, so that golden files stay the same.
type actor struct {
	id  memory.MemberID
	key ed25519.PrivateKey
}

func newActor(name string) actor {
	seed := sha256.Sum256([]byte("locket test key " + name))
	a := actor{key: ed25519.NewKeyFromSeed(seed[:])}
	copy(a.id[:], name+"--------")
	return a
}

func (a actor) public() []byte { return a.key.Public().(ed25519.PublicKey) }

func (a actor) member(role Role) *Member {
	return &Member{ID: a.id, Key: a.public(), Recipient: "age1pq1" + string(a.id[:]), Role: role, Name: []byte("sealed name of " + string(a.id[:]))}
}

var (
	theRoot = actor{key: newActor("root").key}
	glasses = newActor("glasses")
	phone   = newActor("phone")
	worker  = newActor("worker")
	reader  = newActor("reader")
	other   = newActor("other")
	space   = memory.SpaceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// history builds a log, entry by entry, and keeps its state.
type history struct {
	t       testing.TB
	state   *State
	entries []*Entry
}

func (h *history) sign(by actor, e *Entry) *Entry {
	h.t.Helper()
	e.Space, e.N, e.Prev, e.Author = space, h.state.N()+1, h.state.Head(), by.id
	e.At = 1_790_000_000 + int64(e.N)
	if err := e.Sign(KeySigner(by.key)); err != nil {
		h.t.Fatal(err)
	}
	return e
}

func (h *history) append(by actor, e *Entry) *Entry {
	h.t.Helper()
	h.sign(by, e)
	if err := h.state.Append(e); err != nil {
		h.t.Fatal(err)
	}
	h.entries = append(h.entries, e)
	return e
}

func wrapTo(ids ...memory.MemberID) []Wrap {
	slices.SortFunc(ids, memory.MemberID.Compare)
	var out []Wrap
	for _, id := range ids {
		out = append(out, Wrap{To: id, Keys: []byte("sealed epoch keys for " + id.String())})
	}
	return out
}

func founding() *Entry {
	return &Entry{Action: Found, Epoch: 1, Root: theRoot.public(), Recovery: "age1pq1recovery",
		Member: glasses.member(Owner), Wraps: wrapTo(theRoot.id, glasses.id)}
}

// household has glasses (owner), a phone (writer), a worker (extractor) and a
// reader, all in epoch 1, at entry 4.
func household(t testing.TB) *history {
	h := &history{t: t, state: new(State)}
	h.append(theRoot, founding())
	h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: phone.member(Writer), Wraps: wrapTo(phone.id)})
	h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: worker.member(Extractor), Wraps: wrapTo(worker.id)})
	h.append(theRoot, &Entry{Action: Add, Epoch: 1, Member: reader.member(Reader), Wraps: wrapTo(reader.id)})
	return h
}

func (h *history) removal(who actor, last ...Position) *Entry {
	ids := []memory.MemberID{{}}
	for _, m := range h.state.Members() {
		if m.ID != who.id {
			ids = append(ids, m.ID)
		}
	}
	return &Entry{Action: Remove, Epoch: h.state.Epoch() + 1, Removed: &who.id, Last: last, Wraps: wrapTo(ids...)}
}

// delta returns the next delta of by after prev; prev is nil for the first.
func (h *history) delta(by actor, prev *Header, body string) *Delta {
	h.t.Helper()
	head := Header{Space: space, Member: by.id, Incarnation: 0x1122334455667788, Seq: 1, Head: h.state.Head(), Epoch: h.state.Epoch()}
	if prev != nil {
		head.Seq, head.Prev = prev.Seq+1, prev.Hash()
	}
	d, err := Sign(head, []byte(body), KeySigner(by.key))
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}
