package replica_test

import (
	"crypto/sha256"
	"slices"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// cases are a right checkpoint with all sorts of votes, and checkpoints that an owner, another
// member or a relay has made wrong.
func (m *maker) cases(right *envelope.Checkpoint, owner, writer, second, stranger *author) (out []restoreCase) {
	signed := func(a *author, change func(*envelope.Checkpoint)) listedWire {
		c := *right
		c.Places = slices.Clone(right.Places)
		change(&c)
		if err := c.Sign(a.Sign); err != nil {
			m.t.Fatal(err)
		}
		return listedWire{Checkpoint: c.Bytes(), Votes: []hexBytes{m.vote(writer, &c, envelope.Agree)}}
	}
	shows := func(name string, c restoreCase, ls ...listedWire) {
		c.Name, c.Checkpoints = name, ls
		out = append(out, c)
	}
	wrong := func(name, reason string, a *author, change func(*envelope.Checkpoint)) {
		shows(name, restoreCase{Refused: reason}, signed(a, change))
	}
	as := func(votes ...hexBytes) listedWire { return listedWire{Checkpoint: right.Bytes(), Votes: votes} }
	agrees := m.vote(writer, right, envelope.Agree)

	shows("verified", restoreCase{Takes: "verified"}, as(agrees))
	shows("nobody has voted", restoreCase{Takes: "unverified"}, as())
	shows("its author's own vote does not verify it", restoreCase{Takes: "unverified"}, as(m.vote(second, right, envelope.Agree)))
	shows("a stranger's vote does not verify it", restoreCase{Takes: "unverified"}, as(m.vote(stranger, right, envelope.Agree)))
	shows("what is no vote", restoreCase{Takes: "verified"}, as(agrees, hexBytes{0xf6}))
	shows("an objection of a stranger", restoreCase{Takes: "verified"}, as(agrees, m.vote(stranger, right, envelope.Object)))
	shows("an objection", restoreCase{Refused: "disputed"}, as(agrees, m.vote(owner, right, envelope.Object)))
	shows("a wrong one beside the right one", restoreCase{Takes: "verified"}, signed(stranger, func(c *envelope.Checkpoint) { c.Author = stranger.id }), as(agrees))

	last := slices.Clone(right.Bytes())
	last[len(last)-1] ^= 1
	shows("a bit of the signature", restoreCase{Refused: "signature"}, listedWire{Checkpoint: last, Votes: []hexBytes{agrees}})
	inner := slices.Clone(right.Bytes())
	inner[12] ^= 1 // in the id of the space
	shows("a bit of what is signed", restoreCase{Refused: "rule"}, listedWire{Checkpoint: inner, Votes: []hexBytes{agrees}})
	wrong("by a writer", "rule", writer, func(c *envelope.Checkpoint) { c.Author = writer.id })
	wrong("by no member", "rule", stranger, func(c *envelope.Checkpoint) { c.Author = stranger.id })
	wrong("in an owner's name, by no member", "signature", stranger, func(*envelope.Checkpoint) {})
	wrong("of another space", "rule", second, func(c *envelope.Checkpoint) { c.Space[0] ^= 1 })
	wrong("of an epoch that was not in force", "rule", second, func(c *envelope.Checkpoint) { c.Epoch = 2 })
	wrong("a head that nobody knows", "unknown-head", second, func(c *envelope.Checkpoint) { c.Head[0] ^= 1 })
	wrong("a chain of no member", "rule", second, func(c *envelope.Checkpoint) { c.Places[2].Member = stranger.id })
	wrong("another cursor than its parts are of", "context", second, func(c *envelope.Checkpoint) { c.Cursor-- })

	// Parts that a relay has changed.
	manifest := m.at.blobs[right.Manifest]
	plain, err := seal.OpenBody(m.keys[1], manifest)
	if err != nil {
		m.t.Fatal(err)
	}
	source := delta.Source{Space: right.Space, Author: right.Author, Cursor: right.Cursor}
	list, err := delta.UnpackManifest(source, slices.Clone(plain))
	if err != nil {
		m.t.Fatal(err)
	}
	chunk := list.Chunks[0].Sealed
	flipped := func(id envelope.Hash) map[envelope.Hash]hexBytes {
		b := slices.Clone(m.at.blobs[id])
		b[len(b)/2] ^= 1
		return map[envelope.Hash]hexBytes{id: b}
	}
	shows("a bit of the manifest", restoreCase{Refused: "part", Changed: flipped(right.Manifest)}, as(agrees))
	shows("a bit of a chunk", restoreCase{Refused: "part", Changed: flipped(chunk)}, as(agrees))
	shows("no manifest", restoreCase{Refused: "missing", RemovedBodies: []envelope.Hash{right.Manifest}}, as(agrees))
	shows("no chunk", restoreCase{Refused: "missing", RemovedBodies: []envelope.Hash{chunk}}, as(agrees))

	// Parts that a lying owner has sealed.
	put := func(padded []byte) delta.Chunk {
		b := m.sealed(padded)
		id := envelope.Hash(sha256.Sum256(b))
		m.at.blobs[id] = b
		return delta.Chunk{Sealed: id, Size: uint32(len(b))}
	}
	manifested := func(name, reason string, of delta.Source, change func(*delta.Manifest)) {
		l := delta.Manifest{Digest: list.Digest, Chunks: slices.Clone(list.Chunks)}
		change(&l)
		b, err := l.Pack(of)
		if err != nil {
			m.t.Fatal(err)
		}
		p := put(b)
		wrong(name, reason, second, func(c *envelope.Checkpoint) { c.Manifest, c.Size = p.Sealed, p.Size })
	}
	manifested("another digest", "digest", source, func(l *delta.Manifest) { l.Digest[0] ^= 1 })
	manifested("a manifest of another author", "context", delta.Source{Space: source.Space, Author: writer.id, Cursor: source.Cursor}, func(*delta.Manifest) {})
	manifested("a chunk twice", "context", source, func(l *delta.Manifest) { l.Chunks = append(l.Chunks, l.Chunks[0]) })
	manifested("another size of a chunk", "part", source, func(l *delta.Manifest) { l.Chunks[0].Size++ })
	items, err := seal.OpenBody(m.keys[1], m.at.blobs[chunk])
	if err != nil {
		m.t.Fatal(err)
	}
	short := slices.Clone(items[:len(items)-1])
	manifested("a chunk with other padding", "padding", source, func(l *delta.Manifest) { l.Chunks[0] = put(short) })
	rest := slices.Clone(items)
	rest[len(rest)-1] = 1
	manifested("a chunk with something in the padding", "padding", source, func(l *delta.Manifest) { l.Chunks[0] = put(rest) })
	all, err := delta.Unpack(source, 1, slices.Clone(items))
	if err != nil {
		m.t.Fatal(err)
	}
	p := delta.NewPacker(source)
	for i := range all {
		if a := all[i].Op.Assertion; a == nil || a.Memory != (memory.ID{0x12}) {
			if _, err := p.Put(&all[i]); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	less, err := p.Flush()
	if err != nil {
		m.t.Fatal(err)
	}
	manifested("a chunk that leaves out a memory", "digest", source, func(l *delta.Manifest) { l.Chunks[0] = put(less) })
	stream, err := delta.Encode(envelope.Header{Version: envelope.Version, Space: source.Space, Member: source.Author, Incarnation: 7, Seq: 1, Head: right.Head, Epoch: 1}, []delta.Op{{Forget: &delta.Forget{Memories: []memory.ID{{0x12}}}}})
	if err != nil {
		m.t.Fatal(err)
	}
	manifested("a delta's body in place of a chunk", "context", source, func(l *delta.Manifest) { l.Chunks[0] = put(stream) })

	// Places are the author's claim until headers are read.
	placed := func(name string, change func(*envelope.Checkpoint)) {
		shows(name, restoreCase{Refused: "places", Headers: true}, signed(second, change))
	}
	placed("a place with another header's hash", func(c *envelope.Checkpoint) { c.Places[0].Hash[0] ^= 1 })
	placed("a place behind the chain", func(c *envelope.Checkpoint) { c.Places[0].Seq-- })
	placed("a place beyond the chain", func(c *envelope.Checkpoint) { c.Places[0].Seq++ })
	placed("a chain left out", func(c *envelope.Checkpoint) { c.Places = c.Places[1:] })
	return out
}

func (m *maker) vote(a *author, c *envelope.Checkpoint, verdict envelope.Verdict) hexBytes {
	v := &envelope.Vote{Space: a.space, Member: a.id, Checkpoint: c.Hash(), Verdict: verdict, Head: m.log.Head()}
	if err := v.Sign(a.Sign); err != nil {
		m.t.Fatal(err)
	}
	return v.Bytes()
}
