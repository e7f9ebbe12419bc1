// Package storetest is the test suite that every [relay.Store] must pass. It
// also has the household that sends deltas in tests of the relay. Its deltas
// are really signed, but not sealed, since a relay can't open a body anyway.
package storetest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Person is a member or a root. The signing key is derived from the name.
type Person struct {
	ID  memory.MemberID // zero for a root
	Key ed25519.PrivateKey
	// the last header that was sent, in incarnation 1
	last *envelope.Header
}

// Public returns the public key.
func (p *Person) Public() ed25519.PublicKey { return p.Key.Public().(ed25519.PublicKey) }

// Household is a space with an owner, a writer and a reader.
type Household struct {
	TB      testing.TB
	Space   memory.SpaceID
	Root    *Person
	Owner   *Person
	Writer  *Person
	Reader  *Person
	State   *envelope.State
	Entries []*envelope.Entry
}

// NewHousehold makes a household. Its keys and its space id are derived from its
// name.
func NewHousehold(tb testing.TB, name string) *Household {
	tb.Helper()
	h := &Household{TB: tb, Root: person(name + " root"), Owner: person(name + " owner"), Writer: person(name + " writer"),
		Reader: person(name + " reader"), State: new(envelope.State)}
	h.Root.ID = memory.MemberID{}
	sum := sha256.Sum256([]byte("space " + name))
	copy(h.Space[:], sum[:])
	h.Append(h.Root, &envelope.Entry{Action: envelope.Found, Epoch: 1, Root: h.Root.Public(), Recovery: "age1recovery",
		Member: member(h.Owner, envelope.Owner), Wraps: wraps(memory.MemberID{}, h.Owner.ID)})
	h.Add(h.Owner, h.Writer, envelope.Writer)
	h.Add(h.Owner, h.Reader, envelope.Reader)
	return h
}

func person(name string) *Person {
	seed := sha256.Sum256([]byte("relay test key " + name))
	p := &Person{Key: ed25519.NewKeyFromSeed(seed[:])}
	copy(p.ID[:], seed[8:])
	return p
}

func member(p *Person, role envelope.Role) *envelope.Member {
	return &envelope.Member{ID: p.ID, Key: p.Public(), Recipient: "age1member", Role: role}
}

func wraps(to ...memory.MemberID) []envelope.Wrap {
	slices.SortFunc(to, memory.MemberID.Compare)
	var out []envelope.Wrap
	for _, id := range to {
		out = append(out, envelope.Wrap{To: id, Keys: []byte("sealed for " + id.String())})
	}
	return out
}

// Sign makes e the next entry of the log, signed by a person, but does not
// append it.
func (h *Household) Sign(by *Person, e *envelope.Entry) *envelope.Entry {
	h.TB.Helper()
	e.Space, e.N, e.Prev, e.Author = h.Space, h.State.N()+1, h.State.Head(), by.ID
	e.At = 1_790_000_000 + int64(e.N)
	if err := e.Sign(envelope.KeySigner(by.Key)); err != nil {
		h.TB.Fatal(err)
	}
	return e
}

// Append makes e the next entry of the log.
func (h *Household) Append(by *Person, e *envelope.Entry) *envelope.Entry {
	h.TB.Helper()
	h.Sign(by, e)
	if err := h.State.Append(e); err != nil {
		h.TB.Fatal(err)
	}
	h.Entries = append(h.Entries, e)
	return e
}

// Add appends an entry that adds a member.
func (h *Household) Add(by, who *Person, role envelope.Role) *envelope.Entry {
	h.TB.Helper()
	return h.Append(by, &envelope.Entry{Action: envelope.Add, Epoch: h.State.Epoch(), Member: member(who, role), Wraps: wraps(who.ID)})
}

// Remove appends an entry that removes a member. last lists the positions that
// are still accepted.
func (h *Household) Remove(by, who *Person, last ...envelope.Position) *envelope.Entry {
	h.TB.Helper()
	to := []memory.MemberID{{}}
	for _, m := range h.State.Members() {
		if m.ID != who.ID {
			to = append(to, m.ID)
		}
	}
	return h.Append(by, &envelope.Entry{Action: envelope.Remove, Epoch: h.State.Epoch() + 1, Removed: &who.ID, Last: last, Wraps: wraps(to...)})
}

// Delta returns a person's next delta.
func (h *Household) Delta(by *Person, body string) *envelope.Delta {
	h.TB.Helper()
	head := envelope.Header{Space: h.Space, Member: by.ID, Incarnation: 1, Seq: 1, Head: h.State.Head(), Epoch: h.State.Epoch()}
	if by.last != nil {
		head.Seq, head.Prev = by.last.Seq+1, by.last.Hash()
	}
	d := h.Seal(by, head, body)
	by.last = &d.Header
	return d
}

// Seal signs any given header, without checking it.
func (h *Household) Seal(by *Person, head envelope.Header, body string) *envelope.Delta {
	h.TB.Helper()
	d, err := envelope.Sign(head, []byte(body), envelope.KeySigner(by.Key))
	if err != nil {
		h.TB.Fatal(err)
	}
	return d
}
