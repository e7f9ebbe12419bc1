package engine

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
)

// chunkID returns the id under which the index has the nth chunk of a resource, counted from 1: the
// resource's id with the number in its last two bytes. Nothing in the store has this id.
func chunkID(id memory.ID, n int) memory.ID {
	id[14] ^= byte(n >> 8)
	id[15] ^= byte(n)
	return id
}

// chunkPrefix is how many characters of its id a resource shares with its chunks: 22 characters are
// 110 bits.
const chunkPrefix = 22

// MemoryOfHit returns the memory that a hit of the index names, by the memory's own id or by
// that of one of its chunks. In the first case the chunk is nil. The error is memory.ErrNotFound if
// there is no such memory or chunk.
func MemoryOfHit(tx *store.Tx, id memory.ID) (*memory.Memory, *memory.Chunk, error) {
	m, err := tx.Memory(id)
	if !errors.Is(err, memory.ErrNotFound) {
		return m, nil, err
	}
	m, wrong := tx.Find(id.String()[:chunkPrefix])
	if wrong != nil || m.Fields.Resource == nil {
		return nil, nil, cmp.Or(err, wrong)
	}
	if chunk := ChunkOf(m, id); chunk != nil {
		return m, chunk, nil
	}
	return nil, nil, err // the content has become shorter since, or the chunk is another resource's
}

// ChunkOf returns the chunk of a memory that the index has under an id, or nil.
func ChunkOf(m *memory.Memory, id memory.ID) *memory.Chunk {
	if m.Fields.Resource == nil || !bytes.Equal(id[:14], m.ID[:14]) {
		return nil
	}
	n := int(id[14]^m.ID[14])<<8 | int(id[15]^m.ID[15])
	chunks := m.Fields.Resource.Chunks()
	if n < 1 || n > len(chunks) {
		return nil
	}
	return &chunks[n-1]
}

// split makes several documents of a long resource's document: one per chunk, and one for its
// title. All of them lead to one hit. For other memories it returns the document unchanged, and in
// gone the chunks that may have existed before.
func split(doc recall.Doc, m *memory.Memory) (docs []recall.Doc, gone []memory.ID) {
	var chunks []memory.Chunk
	if f := m.Fields.Resource; f != nil {
		chunks = f.Chunks()
	}
	if m.Type == memory.Resource {
		gone = chunkIDs(doc.ID)[len(chunks):]
	}
	title := doc
	if len(chunks) > 0 {
		title.Text = m.Text
	}
	docs = append(docs, title)
	for _, c := range chunks {
		d := doc
		d.ID, d.Source, d.Text = chunkID(doc.ID, c.Number), doc.ID, m.Text+"\n"+c.Text
		docs = append(docs, d)
	}
	return docs, gone
}

// chunkIDs returns the ids of all chunks that a resource can have.
func chunkIDs(id memory.ID) []memory.ID {
	ids := make([]memory.ID, memory.MaxChunks)
	for i := range ids {
		ids[i] = chunkID(id, i+1)
	}
	return ids
}
