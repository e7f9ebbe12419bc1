package recall

import (
	"hash/maphash"
	"math/bits"

	"github.com/locket-dev/locket/memory"
)

// idTable finds documents by their ids. It is a hash table with open
// addressing, of any length. The ids themselves are stored with the documents.
// A dead document keeps its slot until another document takes it.
type idTable struct {
	seed  maphash.Seed
	slots []uint32 // number plus 1; 0: free
	taken int
}

func newIDTable() idTable { return idTable{seed: maphash.MakeSeed(), slots: make([]uint32, 64)} }

func (t *idTable) home(id memory.ID) int {
	at, _ := bits.Mul64(maphash.Bytes(t.seed, id[:]), uint64(len(t.slots)))
	return int(at)
}

// after returns the slot after one.
func (t *idTable) after(i int) int {
	if i++; i == len(t.slots) {
		return 0
	}
	return i
}

// find returns the living document of an id.
func (c *core) find(id memory.ID) (d uint32, ok bool) {
	t := &c.byID
	for i := t.home(id); t.slots[i] != 0; i = t.after(i) {
		if d := t.slots[i] - 1; c.docs[d].id == id && !c.docs[d].dead() {
			return d, true
		}
	}
	return 0, false
}

// name makes the last document findable by its id. No other living document has
// this id.
func (c *core) name(d uint32) {
	t := &c.byID
	if 4*(t.taken+1) > 3*len(t.slots) {
		t.resize(c.docs, t.taken+t.taken/2)
		return // with d
	}
	t.place(c.docs, d)
}

func (t *idTable) place(docs []meta, d uint32) {
	i := t.home(docs[d].id)
	for t.slots[i] != 0 && !docs[t.slots[i]-1].dead() {
		i = t.after(i)
	}
	if t.slots[i] == 0 {
		t.taken++
	}
	t.slots[i] = d + 1
}

// resize makes a table with room for a number of documents, and places the
// living ones in it.
func (t *idTable) resize(docs []meta, room int) {
	t.slots, t.taken = make([]uint32, max(64, room+room/3+1)), 0
	for d := range docs {
		if !docs[d].dead() {
			t.place(docs, uint32(d))
		}
	}
}

// inSources is set in a reference to a source that is not a document here.
const inSources = 1 << 31

// refer returns the reference for the source of a new document: the number of a document, or an
// index in sources.
func (c *core) refer(source memory.ID) uint32 {
	if d, ok := c.find(source); ok {
		return d
	}
	c.sources = append(c.sources, source)
	return inSources | uint32(len(c.sources)-1)
}

// sourceOf returns the source's id. A document keeps its id when it dies.
func (c *core) sourceOf(m *meta) (id memory.ID) {
	switch {
	case !m.sourced():
		return id
	case m.link&inSources != 0:
		return c.sources[m.link&^inSources]
	}
	return c.docs[m.link].id
}
