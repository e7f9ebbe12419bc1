package replica_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/replica"
)

// restorePhrase encodes the bytes 0 to 31, as in crypto/keyring/testdata/phrase.
const restorePhrase = "abandon amount liar amount expire adjust cage candy arch gather drum bullet absurd math era live bid rhythm alien crouch range attend journey unaware"

// maker makes a space by hand: its members, log and deltas.
type maker struct {
	t     *testing.T
	root  *keyring.Recovery
	at    *shown
	log   *envelope.State
	keys  seal.Epochs
	clock int64
}

// author is a member that makes statements.
type author struct {
	*party
	role envelope.Role
	link envelope.Link
	dots uint64
}

func (m *maker) author(n byte, role envelope.Role) *author {
	seed, err := seal.KeyFromBytes(bytes.Repeat([]byte{n ^ 0x80}, 32))
	if err != nil {
		m.t.Fatal(err)
	}
	return &author{role: role, party: &party{id: memory.MemberID{n}, sign: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)),
		pair: seal.IdentityFromSeed(seed), space: m.root.Space(), epochs: seal.Epochs{}}}
}

// entry appends an entry by the root. If it founds the space or begins an epoch, its keys are
// wrapped to recovery and to some members.
func (m *maker) entry(e envelope.Entry, to ...*author) {
	m.t.Helper()
	e.Version, e.Space, e.N, e.Prev, e.At = envelope.Version, m.root.Space(), m.log.N()+1, m.log.Head(), m.clock/1000
	if e.N == 1 {
		e.Prev = envelope.Hash{}
	}
	e.Epoch = uint32(len(m.keys))
	wrap := func(id memory.MemberID, r *seal.Recipient, keys seal.Epochs) {
		b, err := seal.SealEpochs(r, m.root.Space(), keys)
		if err != nil {
			m.t.Fatal(err)
		}
		e.Wraps = append(e.Wraps, envelope.Wrap{To: id, Keys: b})
	}
	newest := seal.Epochs{e.Epoch: m.keys[e.Epoch]}
	if e.Action != envelope.Add {
		wrap(memory.MemberID{}, m.root.Identity().Recipient(), newest)
	}
	for _, a := range to {
		wrap(a.id, a.pair.Recipient(), newest)
	}
	if err := e.Sign(func(domain string, msg []byte) ([]byte, error) { return m.root.Sign(domain, msg), nil }); err != nil {
		m.t.Fatal(err)
	}
	if err := m.log.Append(&e); err != nil {
		m.t.Fatal(err)
	}
	m.at.log = append(m.at.log, e.Bytes())
}

func (m *maker) member(a *author, grant []byte) *envelope.Member {
	out := &envelope.Member{ID: a.id, Key: a.sign.Public().(ed25519.PublicKey), Recipient: a.pair.Recipient().String(), Role: a.role}
	place := membership.NotePlace(a.space, a.id)
	out.Name = seal.SealNote(membership.NameLabel, []byte(a.role.String()), place, 1, m.keys[1])
	if grant != nil {
		out.Grant = seal.SealNote("member grant", grant, place, 1, m.keys[1])
	}
	return out
}

// say makes an author's next delta with some ops.
func (m *maker) say(a *author, ops ...delta.Op) {
	m.t.Helper()
	h := envelope.Header{Version: envelope.Version, Space: a.space, Member: a.id, Incarnation: 7, Seq: a.link.Seq + 1, Prev: a.link.Hash, Head: m.log.Head(), Epoch: m.log.Epoch()}
	padded, err := delta.Encode(h, ops)
	if err != nil {
		m.t.Fatal(err)
	}
	d, err := envelope.Sign(h, m.sealed(padded), a.Sign)
	if err != nil {
		m.t.Fatal(err)
	}
	a.link = d.Header.Next()
	m.at.deltas = append(m.at.deltas, d.Bytes())
}

// sealed seals a plaintext with the key of the epoch in force.
func (m *maker) sealed(padded []byte) []byte {
	b, err := seal.SealBody(m.keys[m.log.Epoch()], padded)
	if err != nil {
		m.t.Fatal(err)
	}
	return b
}

func (m *maker) assertion(a *author, rank memory.Rank, id memory.ID, act memory.Act) *memory.Assertion {
	a.dots++
	m.clock += 1000
	return &memory.Assertion{Dot: memory.Dot{Member: a.id, Seq: a.dots}, Clock: memory.Clock{Wall: m.clock}, Rank: rank, Space: a.space, Memory: id, Act: act}
}

func (m *maker) proposal(a *author, rank memory.Rank, n byte, text string) delta.Op {
	p := m.assertion(a, rank, memory.ID{n}, memory.ActPropose)
	p.Candidate = &memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: "wearer"}, Confidence: .8, Sensitivity: memory.Personal, Tags: []string{"vectors"}}
	return delta.Op{Assertion: p}
}

// makeRestore makes a space with two epochs, with snapshots of it that count and that do not.
func makeRestore(t *testing.T) (v restoreVectors) {
	root, err := keyring.Recover(restorePhrase)
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{t: t, root: root, at: &shown{blobs: map[envelope.Hash][]byte{}}, log: new(envelope.State), clock: 1_790_000_000_000}
	key := func(n byte) *seal.Key {
		k, err := seal.KeyFromBytes(bytes.Repeat([]byte{n}, 32))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	m.keys = seal.Epochs{1: key(0xe1)}
	owner, writer, worker, second := m.author(1, envelope.Owner), m.author(2, envelope.Writer), m.author(3, envelope.Extractor), m.author(4, envelope.Owner)
	stranger := m.author(9, envelope.Owner)
	m.entry(envelope.Entry{Action: envelope.Found, Root: root.Root(), Recovery: root.Identity().Recipient().String(), Member: m.member(owner, nil)}, owner)
	m.entry(envelope.Entry{Action: envelope.Add, Member: m.member(writer, nil)}, writer)
	m.entry(envelope.Entry{Action: envelope.Add, Member: m.member(worker, delta.Grant{Types: []memory.Type{memory.Semantic}}.Bytes())}, worker)
	m.entry(envelope.Entry{Action: envelope.Add, Member: m.member(second, nil)}, second)

	line := memory.Utterance{ID: memory.ID{0xa1}, Space: owner.space, At: time.UnixMilli(m.clock).UTC(), Speaker: "Bo", Text: "Bo works for Philips now."}
	photo := bytes.Repeat([]byte("a photo "), 40)
	photoKey := key(0x77)
	sealedPhoto := sealed(t, photo, photoKey)
	photoID := envelope.Hash(sha256.Sum256(sealedPhoto))
	m.at.blobs[photoID] = sealedPhoto
	note := memory.ID{0xb1}.String()
	v.Photos = map[string]envelope.Hash{note: sha256.Sum256(photo)}
	m.say(owner, m.proposal(owner, memory.RankDevice, 0x11, "I moved to Suzhou."), m.proposal(owner, memory.RankDevice, 0x12, "My dentist is Dr. Wu."),
		m.proposal(owner, memory.RankDevice, 0x13, "I owe Bo 40 euros."), delta.Op{Utterance: &line},
		delta.Op{Blob: &delta.Blob{Name: note, Sealed: photoID, Size: uint64(length.Stream(length.Padded(int64(len(photo))))), MediaType: "image/png", Key: photoKey.Bytes(), Memory: memory.ID{0x11}, Plain: uint64(len(photo))}})
	quoting := m.proposal(worker, memory.RankCloud, 0x14, "Bo works for Philips.")
	quoting.Assertion.Candidate.Evidence = []memory.Evidence{{Utterance: line.ID, Excerpt: "Bo works for Philips", End: len("Bo works for Philips")}}
	baseless := m.proposal(worker, memory.RankCloud, 0x15, "Bo works for nobody.")
	m.say(worker, quoting, baseless)
	m.say(writer, m.proposal(writer, memory.RankDevice, 0x16, "The bike's lock is the blue one."))
	pin := m.assertion(owner, memory.RankPerson, memory.ID{0x11}, memory.ActPin)
	pin.Seen = []memory.Dot{{Member: owner.id, Seq: 1}}
	text := "My dentist is Dr. Wang."
	correct := m.assertion(owner, memory.RankPerson, memory.ID{0x12}, memory.ActCorrect)
	correct.Patch = &memory.Patch{Text: &text}
	m.say(owner, delta.Op{Assertion: pin}, delta.Op{Assertion: correct}, delta.Op{Assertion: m.assertion(owner, memory.RankPerson, memory.ID{0x13}, memory.ActErase)})
	covered := len(m.at.deltas)
	places := func() (out []envelope.Place) {
		for _, a := range []*author{owner, writer, worker} {
			out = append(out, envelope.Place{Member: a.id, Incarnation: 7, Seq: a.link.Seq, Hash: a.link.Hash})
		}
		return out
	}()

	// This implementation makes the snapshot.
	r, _ := replicaOf(t, second.party, m.at)
	if err := r.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	right, err := envelope.ParseCheckpoint(m.at.checkpoints[0].Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if right.Cursor != uint64(covered) || !slices.Equal(right.Places, places) {
		t.Fatalf("%+v", right)
	}
	v.Cases = m.cases(right, owner, writer, second, stranger)

	m.keys[2] = key(0xe2)
	m.entry(envelope.Entry{Action: envelope.Rekey}, owner, writer, worker, second)
	m.say(owner, m.proposal(owner, memory.RankDevice, 0x17, "The plums are ripe."))
	m.say(writer, m.proposal(writer, memory.RankDevice, 0x18, "The key is under the mat."))
	m.say(worker, delta.Op{Report: &delta.Report{Number: 1, Text: "{}"}})

	// The expected result: everything, read delta by delta while the bodies are there.
	whole := m.author(4, envelope.Owner)
	r, s := replicaOf(t, whole.party, &shown{log: m.at.log, deltas: m.at.deltas, blobs: m.at.blobs})
	if err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.Memories = memories(t, s)
	if len(v.Memories) != 6 {
		t.Fatalf("%v", v.Memories)
	}
	v.After = []memory.ID{{0x17}, {0x18}}
	for i := range m.at.deltas[:covered] {
		d, err := envelope.ParseDelta(m.at.deltas[i])
		if err != nil {
			t.Fatal(err)
		}
		m.at.deltas[i] = d.WithoutBody().Bytes()
	}

	v.Phrase = restorePhrase
	v.Member.ID, v.Member.Seed, v.Member.Pair = second.id, second.sign.Seed(), second.pair.Seed().Bytes()
	v.Blobs = map[envelope.Hash]hexBytes{}
	for id, b := range m.at.blobs {
		v.Blobs[id] = b
	}
	for _, b := range m.at.log {
		v.Log = append(v.Log, b)
	}
	for _, b := range m.at.deltas {
		v.Deltas = append(v.Deltas, b)
	}
	return v
}

var _ replica.Remote = (*shown)(nil)
