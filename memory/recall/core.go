package recall

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
)

// none stands for "no document".
const none = ^uint32(0)

// list is the posting list of one term: documents in ascending order, as varints of the difference
// shifted left by one, with the lowest bit set if a count other than 1 follows.
type list struct {
	b    []byte
	last uint32 // greatest document, plus 1
	n    uint32 // living documents that have the term
	df   uint32 // number of these without a source; only these count in statistics
}

// core is the index in memory. Documents are numbered in the order in which they came; a number is
// not used again before a rebuild.
type core struct {
	dict    *dict
	lists   []list
	docs    []meta
	forward []byte // order and terms of each document: see forward.go
	byID    idTable
	sources []memory.ID // sources of documents that are not themselves earlier documents
	names   *dict       // sessions, speakers
	tails   map[uint32]uint32
	alive   int
	counted int // living documents without a source, over which statistics are computed
	words   int // sum of their lengths
	grams   *gramTable
	spoken  map[uint32]int // living documents by speaker
	graph   graph.Graph
	tight   int // number of documents when it was last tightened
	// taken has the superseded memories, by the utterance that they quote.
	taken map[memory.ID][]memory.ID
	// dictionary may be nil.
	dictionary *Dictionary

	shown *shown // the documents that a question may be read by; nil: all

	plain, based []byte // used by write, and reused
	theirs       []tf
}

func newCore() *core {
	c := &core{dict: newDict(), names: newDict(), byID: newIDTable(), tails: map[uint32]uint32{}, spoken: map[uint32]int{}, grams: newGramTable(),
		taken: map[memory.ID][]memory.ID{}}
	c.names.id("") // 0: no name
	return c
}

// term returns the number of a term, new or known.
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

// insert adds a document; terms are sorted by number and distinct. It replaces a document with the
// same id.
func (c *core) insert(m meta, order uint64, source memory.ID, terms []tf) uint32 {
	if old, ok := c.find(m.id); ok {
		c.remove(old)
	}
	d := uint32(len(c.docs))
	m.link, m.next, m.flags = none, none, m.flags&flagsKnown
	primary := source.IsZero()
	if !primary {
		m.link, m.flags = c.refer(source), m.flags|flagSource
		if m.flags&flagPast != 0 {
			c.taken[source] = append(c.taken[source], m.id)
		}
	}
	c.write(&m, order, terms)
	for _, t := range terms {
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
		if m.session != 0 && m.kind() == Utterance {
			c.chain(d)
		}
	}
	return d
}

// before orders two documents of a session by time, then order, then id. The
// result does not depend on which was added first.
func (c *core) before(d, o uint32) bool {
	x, y := &c.docs[d], &c.docs[o]
	if x.at != y.at {
		return x.at < y.at
	}
	return cmp.Or(cmp.Compare(c.orderOf(d), c.orderOf(o)), bytes.Compare(x.id[:], y.id[:])) < 0
}

// chain inserts d into the chain of its session, behind all documents that are
// not later.
func (c *core) chain(d uint32) {
	m := &c.docs[d]
	after, ok := c.tails[m.session]
	if !ok {
		c.tails[m.session] = d
		return
	}
	before := none
	for after != none && !c.before(after, d) {
		before, after = after, c.docs[after].link
	}
	m.link, m.next = after, before
	if after != none {
		c.docs[after].next = d
	}
	if before != none {
		c.docs[before].link = d
	} else {
		c.tails[m.session] = d
	}
}

// remove marks a document as dead, and takes it out of the statistics and its
// chain.
func (c *core) remove(d uint32) {
	m := &c.docs[d]
	if m.dead() {
		return
	}
	m.flags |= flagDead
	c.graph.Remove(graph.Doc(d))
	c.alive--
	primary := !m.sourced()
	for t := range c.terms(d) {
		c.lists[t].n--
		if primary {
			c.lists[t].df--
		}
	}
	if !primary {
		c.dropFromPast(m)
		return
	}
	c.counted--
	c.words -= int(m.length)
	if m.speaker != 0 {
		c.spoken[m.speaker]--
	}
	if m.session == 0 || m.kind() != Utterance {
		return
	}
	if m.link != none {
		c.docs[m.link].next = m.next
	}
	if m.next != none {
		c.docs[m.next].link = m.link
	} else if m.link != none {
		c.tails[m.session] = m.link
	} else {
		delete(c.tails, m.session)
	}
}

// dropFromPast removes a memory from the list of past memories.
func (c *core) dropFromPast(m *meta) {
	if m.flags&flagPast == 0 {
		return
	}
	source := c.sourceOf(m)
	left := slices.DeleteFunc(c.taken[source], func(id memory.ID) bool { return id == m.id })
	if c.taken[source] = left; len(left) == 0 {
		delete(c.taken, source)
	}
}

// rebuilt returns the same index without dead documents and unused terms. The
// second result gives each old document's new number.
func (c *core) rebuilt() (*core, []uint32) {
	fresh := newCore()
	fresh.dictionary = c.dictionary
	to := make([]uint32, len(c.docs))
	remap := make([]uint32, len(c.lists))
	for i := range remap {
		remap[i] = none
	}
	var terms []tf
	for d := range c.docs {
		to[d] = none
		m := c.docs[d]
		if m.dead() {
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
		to[d] = fresh.insert(m, c.orderOf(uint32(d)), c.sourceOf(&c.docs[d]), terms)
	}
	return fresh, to
}

func sortTerms(t []tf) {
	slices.SortFunc(t, func(a, b tf) int { return int(a.term) - int(b.term) })
}
