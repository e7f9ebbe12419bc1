package envelope

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// TestMain makes the model test run longer than rapid's default, unless the command says how long.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "1000"); err != nil {
			panic(err)
		}
	}
	m.Run()
}

// incarnation is the incarnation of all chains of the model.
const incarnation = 7

// person is what the model knows about a present or former member.
type person struct {
	actor
	role         Role
	since, until int             // numbers of entries, from 1; until is 0 for a present member
	last         uint64          // last number of the chain that counts after the removal
	keys         map[uint32]bool // epochs whose keys it got
}

// model is the membership log as docs/protocol.md describes it, independent of how State implements
// it.
type model struct {
	people map[memory.MemberID]*person
	epochs []uint32 // epoch after each entry
	heads  []Hash
	epoch  uint32
}

func (m *model) present(except memory.MemberID) []memory.MemberID {
	ids := []memory.MemberID{}
	for id, p := range m.people {
		if p.until == 0 && id != except {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, memory.MemberID.Compare)
	return ids
}

// proposal is a signed entry, right or wrong.
type proposal struct {
	*Entry
	signer actor
	adds   actor // of an addition: the actor whose id it names
	keyOf  actor // and the actor whose key it names
}

// takes reports whether the log takes a proposal, by the rules of docs/protocol.md.
func (m *model) takes(p *proposal) bool {
	if int(p.N) != len(m.heads)+1 || p.Prev != m.heads[len(m.heads)-1] {
		return false
	}
	if p.Author == theRoot.id {
		if !p.signer.key.Equal(theRoot.key) {
			return false
		}
	} else if a := m.people[p.Author]; a == nil || a.until != 0 || a.role != Owner || !p.signer.key.Equal(a.key) {
		return false
	}
	to := []memory.MemberID{}
	for _, w := range p.Wraps {
		to = append(to, w.To)
	}
	switch p.Action {
	case Add:
		for _, old := range m.people {
			if old.id == p.adds.id || old.key.Equal(p.keyOf.key) {
				return false
			}
		}
		return !p.keyOf.key.Equal(theRoot.key) && p.Epoch == m.epoch && slices.Equal(to, []memory.MemberID{p.adds.id})
	case Remove:
		gone := m.people[*p.Removed]
		if gone == nil || gone.until != 0 || gone.role == Owner && p.Author != theRoot.id {
			return false
		}
		return p.Epoch == m.epoch+1 && slices.Equal(to, append([]memory.MemberID{{}}, m.present(gone.id)...))
	}
	return p.Epoch == m.epoch+1 && slices.Equal(to, append([]memory.MemberID{{}}, m.present(memory.MemberID{})...))
}

func (m *model) apply(p *proposal) {
	m.epoch = p.Epoch
	m.heads, m.epochs = append(m.heads, p.Hash()), append(m.epochs, p.Epoch)
	switch p.Action {
	case Add:
		n := &person{actor: actor{id: p.adds.id, key: p.keyOf.key}, role: p.Member.Role, since: len(m.heads), keys: map[uint32]bool{}}
		for e := uint32(1); e <= m.epoch; e++ {
			n.keys[e] = true
		}
		m.people[n.id] = n
		return
	case Remove:
		gone := m.people[*p.Removed]
		gone.until = len(m.heads)
		for _, l := range p.Last {
			gone.last = l.Seq
		}
	}
	for _, w := range p.Wraps {
		if at := m.people[w.To]; at != nil {
			at.keys[m.epoch] = true
		}
	}
}

// hears reports whether a delta counts, by the rules of docs/protocol.md.
func (m *model) hears(h *Header, signer actor) bool {
	at := slices.Index(m.heads, h.Head) + 1
	p := m.people[h.Member]
	return at > 0 && p != nil && p.since <= at && p.role != Reader && h.Epoch == m.epochs[at-1] && signer.key.Equal(p.key) &&
		(p.until == 0 || p.until > at && h.Seq <= p.last)
}

// TestMembershipModel compares State with the model over chains of proposals, right and wrong, by
// members, former members, strangers and the root, and checks what docs/protocol.md says about
// epochs. A second device gets the entries in another order, some of them twice.
func TestMembershipModel(t *testing.T) {
	pool := []actor{theRoot, glasses, phone, worker, reader, other}
	rapid.Check(t, func(t *rapid.T) {
		s, m := new(State), &model{people: map[memory.MemberID]*person{}, epoch: 1}
		first := founding()
		first.Space, first.N = space, 1
		ok(t, first.Sign(KeySigner(theRoot.key)))
		ok(t, s.Append(first))
		m.heads, m.epochs = []Hash{first.Hash()}, []uint32{1}
		m.people[glasses.id] = &person{actor: glasses, role: Owner, since: 1, keys: map[uint32]bool{1: true}}
		entries := []*Entry{first}
		for range rapid.IntRange(1, 24).Draw(t, "steps") {
			p := propose(t, m, pool)
			want := m.takes(p)
			if err := s.Append(p.Entry); want != (err == nil) {
				t.Fatalf("entry %+v signed by %s: want taken %t, and it is %v", p.Entry, p.signer.id, want, err)
			}
			if want {
				m.apply(p)
				entries = append(entries, p.Entry)
			}
			m.hold(t, s)
			for range 4 {
				h, sig, signer := say(t, m, pool)
				if want, err := m.hears(h, signer), s.Accepts(h, sig); want != (err == nil) {
					t.Fatalf("header %+v signed by %s: want taken %t, and it is %v", h, signer.id, want, err)
				}
			}
		}
		late := new(State)
		for late.N() < s.N() {
			e := entries[rapid.IntRange(0, min(int(late.N())+1, len(entries)-1)).Draw(t, "heard")]
			if err := late.Append(e); (err == nil) != (late.N() == e.N) && e.N > late.N() {
				t.Fatal(err)
			}
			ok(t, late.Append(entries[min(int(late.N()), len(entries)-1)]), ErrKnown)
		}
		if late.Head() != s.Head() || late.Epoch() != s.Epoch() || len(late.Members()) != len(s.Members()) {
			t.Fatal("two devices that heard the same have different members")
		}
	})
}

func ok(t *rapid.T, err error, but ...error) {
	if err != nil && len(but) == 0 {
		t.Fatal(err)
	}
}

// hold checks what must be true after each step: present members have the keys of all epochs,
// removed ones have none from their removal on, and State knows the same members.
func (m *model) hold(t *rapid.T, s *State) {
	if s.Epoch() != m.epoch || s.Head() != m.heads[len(m.heads)-1] {
		t.Fatalf("epoch %d, want %d", s.Epoch(), m.epoch)
	}
	var ids []memory.MemberID
	for _, one := range s.Members() {
		ids = append(ids, one.ID)
	}
	if !slices.Equal(ids, m.present(memory.MemberID{})) {
		t.Fatalf("members %v, want %v", ids, m.present(memory.MemberID{}))
	}
	for id, p := range m.people {
		for e := uint32(1); e <= m.epoch; e++ {
			if before := p.until == 0 || e < m.epochs[p.until-1]; p.keys[e] != before {
				t.Fatalf("%s, removed by entry %d, has the key of epoch %d: %t", id, p.until, e, p.keys[e])
			}
		}
		if _, _, past := s.Past(id); past != (p.until != 0) {
			t.Fatalf("%s was removed: %t", id, past)
		}
	}
}

// propose generates an entry: mostly a right one, but every other one has one mistake.
func propose(t *rapid.T, m *model, pool []actor) *proposal {
	pick := func(what string) actor { return rapid.SampledFrom(pool).Draw(t, what) }
	by := theRoot
	if rapid.Bool().Draw(t, "by a member") {
		by = pick("by")
	}
	if at := m.people[by.id]; at != nil {
		by = at.actor // an id may have another actor's key
	}
	p := &proposal{Entry: &Entry{Author: by.id, Epoch: m.epoch, At: 1_790_000_000, Space: space, N: uint64(len(m.heads) + 1), Prev: m.heads[len(m.heads)-1]}, signer: by}
	var to []memory.MemberID
	switch p.Action = rapid.SampledFrom([]Action{Add, Add, Remove, Rekey}).Draw(t, "action"); p.Action {
	case Add:
		p.adds = rapid.SampledFrom(pool[1:]).Draw(t, "adds")
		if p.keyOf = p.adds; rapid.IntRange(0, 9).Draw(t, "key of another") == 0 {
			p.keyOf = pick("key of")
		}
		p.Member = p.adds.member(rapid.SampledFrom([]Role{Owner, Writer, Reader, Extractor}).Draw(t, "role"))
		p.Member.Key = p.keyOf.public()
		to = []memory.MemberID{p.adds.id}
	case Remove:
		id := rapid.SampledFrom(pool[1:]).Draw(t, "removes").id
		if p.Removed = &id; rapid.Bool().Draw(t, "some count") {
			p.Last = []Position{{Incarnation: incarnation, Seq: uint64(rapid.IntRange(1, 2).Draw(t, "last"))}}
		}
		p.Epoch++
		to = append([]memory.MemberID{{}}, m.present(id)...)
	case Rekey:
		p.Epoch++
		to = append([]memory.MemberID{{}}, m.present(memory.MemberID{})...)
	}
	switch rapid.IntRange(0, 13).Draw(t, "wrong") {
	case 0:
		p.signer = pick("signer")
	case 1:
		p.N += uint64(rapid.IntRange(0, 1).Draw(t, "ahead"))
		p.Prev = rapid.SampledFrom(m.heads).Draw(t, "prev")
	case 2:
		p.Epoch = uint32(rapid.IntRange(1, int(m.epoch)+2).Draw(t, "epoch"))
	case 3:
		if len(to) > 1 { // an entry without any can't be signed
			to = to[1:]
		}
	case 4:
		if id := pick("wrap to").id; !slices.Contains(to, id) {
			to = append(to, id)
		}
	}
	p.Wraps = wrapTo(to...)
	ok(t, p.Sign(KeySigner(p.signer.key)))
	return p
}

// say generates a delta's header: by a member, a former one or a stranger, at any entry.
func say(t *rapid.T, m *model, pool []actor) (*Header, []byte, actor) {
	who := rapid.SampledFrom(pool[1:]).Draw(t, "says")
	signer := who
	if p := m.people[who.id]; p != nil {
		signer = p.actor // an id may have another actor's key
	}
	at := rapid.IntRange(0, len(m.heads)-1).Draw(t, "at")
	h := Header{Space: space, Member: who.id, Incarnation: incarnation, Seq: uint64(rapid.IntRange(1, 3).Draw(t, "seq")), Head: m.heads[at], Epoch: m.epochs[at]}
	if h.Seq > 1 {
		h.Prev = Hash{1}
	}
	switch rapid.IntRange(0, 7).Draw(t, "wrong") {
	case 0:
		signer = rapid.SampledFrom(pool).Draw(t, "signer")
	case 1:
		h.Epoch = uint32(rapid.IntRange(1, int(m.epoch)+1).Draw(t, "epoch"))
	case 2:
		h.Head = Hash{9}
	}
	d, err := Sign(h, []byte("body"), KeySigner(signer.key))
	ok(t, err)
	return &d.Header, d.Signature, signer
}
