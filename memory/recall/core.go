package recall

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
)

// none is no document.
const none = ^uint32(0)

// meta is what is known of a document beside its terms.
type meta struct {
	id         memory.ID
	at         int64 // Unix milliseconds; noTime: not known
	order      uint64
	source     uint32 // see core.sourceOf
	session    uint32 // in names
	speaker    uint32 // in names
	off        uint32 // of its terms in forward: they end where those of the next begin
	length     uint32 // words
	prev, next uint32 // in the session's chain
	kind       Kind
	typ        uint8 // 1 + index in memory.Types; 0: none
	flags      uint8
	dead       bool
}

const noTime = -1 << 63

// posting list of one term: documents in rising order, as varints of the
// difference shifted left by one, the lowest bit set where a count other than
// 1 follows.
type list struct {
	b    []byte
	last uint32 // greatest document, plus 1
	n    uint32 // documents alive that hold the term
	df   uint32 // those of them without a source: what statistics are over
}

// core is the index in memory. Documents are numbered in the order in which
// they came; a number is never used again before a rebuild.
type core struct {
	dict    *dict
	lists   []list
	docs    []meta
	forward []byte // per document: varints of term difference shifted left by one, the lowest bit set where a count other than 1 follows
	byID    idTable
	sources []memory.ID // of documents whose source is none that came before them
	names   *dict       // sessions, speakers
	tails   map[uint32]uint32
	alive   int
	counted int // alive documents without a source: what statistics are over
	words   int // sum of their lengths
	grams   *gramTable
	spoken  map[uint32]int // documents alive by speaker
	graph   graph.Graph
	tight   int // documents when it was last made tight
}

func newCore() *core {
	c := &core{dict: newDict(), names: newDict(), byID: newIDTable(), tails: map[uint32]uint32{}, spoken: map[uint32]int{}, grams: newGramTable()}
	c.names.id("") // 0: no name
	return c
}

// term gives the number of a term, new or known.
func (c *core) term(s string) uint32 {
	n := c.dict.len()
	t := c.dict.id(s)
	if int(t) == n {
		c.lists = append(c.lists, list{})
		c.grams.add(t, s)
	}
	return t
}

// tf is a term by number and its count.
type tf struct{ term, n uint32 }

// insert adds a document; terms are sorted by number and distinct. It replaces
// one of the same id.
func (c *core) insert(m meta, source memory.ID, terms []tf) uint32 {
	if old, ok := c.find(m.id); ok {
		c.remove(old)
	}
	d := uint32(len(c.docs))
	m.off = uint32(len(c.forward))
	m.prev, m.next, m.dead = none, none, false
	last := uint32(0)
	m.source = c.refer(source)
	primary := m.source == none
	for _, t := range terms {
		c.forward = appendCounted(c.forward, uint64(t.term-last), t.n)
		last = t.term
		l := &c.lists[t.term]
		l.b = appendCounted(l.b, uint64(d+1-l.last), t.n)
		l.last = d + 1
		l.n++
		if primary {
			l.df++
		}
	}
	c.docs = append(c.docs, m)
	c.name(d)
	c.says(d)
	c.alive++
	if primary {
		c.counted++
		c.words += int(m.length)
		if m.speaker != 0 {
			c.spoken[m.speaker]++
		}
		if m.session != 0 && m.kind == Utterance {
			c.link(d)
		}
	}
	return d
}

// before is the order of a chain: time, order, and id, so that it does not
// hang on which came first.
func (m *meta) before(o *meta) bool {
	return cmp.Or(cmp.Compare(m.at, o.at), cmp.Compare(m.order, o.order), bytes.Compare(m.id[:], o.id[:])) < 0
}

// link puts d into its session's chain, after all that are not later.
func (c *core) link(d uint32) {
	m := &c.docs[d]
	after, ok := c.tails[m.session]
	if !ok {
		c.tails[m.session] = d
		return
	}
	before := none
	for after != none {
		a := &c.docs[after]
		if a.before(m) {
			break
		}
		before, after = after, a.prev
	}
	m.prev, m.next = after, before
	if after != none {
		c.docs[after].next = d
	}
	if before != none {
		c.docs[before].prev = d
	} else {
		c.tails[m.session] = d
	}
}

// remove marks a document dead and takes it out of statistics and chain.
func (c *core) remove(d uint32) {
	m := &c.docs[d]
	if m.dead {
		return
	}
	m.dead = true
	c.graph.Remove(graph.Doc(d))
	c.alive--
	primary := m.source == none
	for t := range c.terms(d) {
		c.lists[t].n--
		if primary {
			c.lists[t].df--
		}
	}
	if !primary {
		return
	}
	c.counted--
	c.words -= int(m.length)
	if m.speaker != 0 {
		c.spoken[m.speaker]--
	}
	if m.session == 0 || m.kind != Utterance {
		return
	}
	if m.prev != none {
		c.docs[m.prev].next = m.next
	}
	if m.next != none {
		c.docs[m.next].prev = m.prev
	} else if m.prev != none {
		c.tails[m.session] = m.prev
	} else {
		delete(c.tails, m.session)
	}
}

// termBytes are those of a document's terms in forward.
func (c *core) termBytes(d uint32) []byte {
	end := uint32(len(c.forward))
	if int(d)+1 < len(c.docs) {
		end = c.docs[d+1].off
	}
	return c.forward[c.docs[d].off:end]
}

// terms yields the terms of a document and their counts.
func (c *core) terms(d uint32) func(yield func(term, n uint32) bool) {
	b := c.termBytes(d)
	return func(yield func(term, n uint32) bool) {
		t := uint32(0)
		for i := 0; i < len(b); {
			delta, k := uvarint32(b[i:])
			i += k
			n := uint32(1)
			if delta&1 != 0 {
				n, k = uvarint32(b[i:])
				i += k
			}
			t += delta >> 1
			if !yield(t, n) {
				return
			}
		}
	}
}

// appendCounted writes a difference, and a count where it is not 1.
func appendCounted(b []byte, difference uint64, n uint32) []byte {
	if n == 1 {
		return binary.AppendUvarint(b, difference<<1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, difference<<1|1), uint64(n))
}

// uvarint32 reads a varint that this package wrote in memory.
func uvarint32(b []byte) (uint32, int) {
	if b[0] < 0x80 {
		return uint32(b[0]), 1
	}
	v, n := binary.Uvarint(b)
	return uint32(v), n
}

// rebuilt is the same index without its dead documents and unused terms, and
// the new number of each old document.
func (c *core) rebuilt() (*core, []uint32) {
	fresh := newCore()
	to := make([]uint32, len(c.docs))
	remap := make([]uint32, len(c.lists))
	for i := range remap {
		remap[i] = none
	}
	var terms []tf
	for d := range c.docs {
		to[d] = none
		m := c.docs[d]
		if m.dead {
			continue
		}
		terms = terms[:0]
		for t, n := range c.terms(uint32(d)) {
			if remap[t] == none {
				remap[t] = fresh.term(c.dict.text(t))
			}
			terms = append(terms, tf{remap[t], n})
		}
		sortTerms(terms)
		m.session = fresh.names.id(c.names.text(m.session))
		m.speaker = fresh.names.id(c.names.text(m.speaker))
		to[d] = fresh.insert(m, c.sourceOf(&c.docs[d]), terms)
	}
	return fresh, to
}

func sortTerms(t []tf) {
	slices.SortFunc(t, func(a, b tf) int { return int(a.term) - int(b.term) })
}
