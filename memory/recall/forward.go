package recall

import "encoding/binary"

// For each document, core.forward has:
//
//	varint  order
//	(varint number of bytes of bits, and the bits: beginning with the lowest,
//	        one for each of the source's terms, set if the document has it with
//	        the same count; unset ones at the end may be left out)
//	        if flagBased is set
//	        the terms, or those that are not given by bits, ascending: varint of
//	        the difference shifted left by one, the lowest bit set if a count
//	        other than 1 follows
//
// A memory mostly has the words of the line that it was made from. A source keeps its number and
// its terms when it dies, and is never based itself.

// write appends to forward the entry of the next document.
func (c *core) write(m *meta, order uint64, terms []tf) {
	m.off = uint32(len(c.forward))
	written := appendTerms(c.plain[:0], terms)
	c.plain = written
	if m.sourced() && m.link&inSources == 0 && !c.docs[m.link].based() {
		// This comes before anything is added to forward, where the last document ends at the end
		// of forward.
		if c.based = c.appendBased(c.based[:0], m.link, terms); len(c.based) < len(written) {
			written = c.based
			m.flags |= flagBased
		}
	}
	c.forward = append(binary.AppendUvarint(c.forward, order), written...)
}

// appendBased writes terms as the difference from the terms of another
// document.
func (c *core) appendBased(b []byte, source uint32, terms []tf) []byte {
	c.theirs = c.theirs[:0]
	for t, n := range c.terms(source) {
		c.theirs = append(c.theirs, tf{t, n})
	}
	set := make([]byte, (len(c.theirs)+7)/8)
	most, i := 0, 0 // number of bytes up to the last that has a bit set
	last, rest := uint32(0), make([]byte, 0, 64)
	for _, t := range terms {
		for i < len(c.theirs) && c.theirs[i].term < t.term {
			i++
		}
		if i < len(c.theirs) && c.theirs[i] == t {
			set[i/8] |= 1 << (i % 8)
			most = i/8 + 1
			continue
		}
		rest = appendCounted(rest, uint64(t.term-last), t.n)
		last = t.term
	}
	b = binary.AppendUvarint(b, uint64(most))
	return append(append(b, set[:most]...), rest...)
}

// appendTerms writes terms by themselves.
func appendTerms(b []byte, terms []tf) []byte {
	last := uint32(0)
	for _, t := range terms {
		b = appendCounted(b, uint64(t.term-last), t.n)
		last = t.term
	}
	return b
}

// forwardOf returns everything that forward holds of a document.
func (c *core) forwardOf(d uint32) []byte {
	end := uint32(len(c.forward))
	if int(d)+1 < len(c.docs) {
		end = c.docs[d+1].off
	}
	return c.forward[c.docs[d].off:end]
}

// orderOf returns the order of a document, which decides between documents of the same time in a
// chain.
func (c *core) orderOf(d uint32) uint64 {
	order, _ := binary.Uvarint(c.forwardOf(d))
	return order
}

// termBytes returns the terms that a document has stored by itself, and which
// terms of its source it shares: bits has one bit for each term of from. from
// is none if the document is based on no other.
func (c *core) termBytes(d uint32) (own, bits []byte, from uint32) {
	own = c.forwardOf(d)
	_, k := binary.Uvarint(own)
	own = own[k:]
	m := &c.docs[d]
	if !m.based() {
		return own, nil, none
	}
	n, k := uvarint32(own)
	return own[k+int(n):], own[k : k+int(n)], m.link
}

// terms yields the terms of a document and their counts, in no particular order if they are based
// on another document's.
func (c *core) terms(d uint32) func(yield func(term, n uint32) bool) {
	own, set, from := c.termBytes(d)
	return func(yield func(term, n uint32) bool) {
		if from != none {
			theirs, _, _ := c.termBytes(from)
			for i, t := 0, uint32(0); len(theirs) > 0 && i < 8*len(set); i++ {
				var n uint32
				t, n, theirs = nextTerm(theirs, t)
				if set[i/8]>>(i%8)&1 != 0 && !yield(t, n) {
					return
				}
			}
		}
		for t := uint32(0); len(own) > 0; {
			var n uint32
			if t, n, own = nextTerm(own, t); !yield(t, n) {
				return
			}
		}
	}
}

// nextTerm reads one term and its count. last is the previous term.
func nextTerm(b []byte, last uint32) (term, n uint32, rest []byte) {
	delta, k := uvarint32(b)
	n = 1
	if delta&1 != 0 {
		var more int
		n, more = uvarint32(b[k:])
		k += more
	}
	return last + delta>>1, n, b[k:]
}

// appendCounted writes a difference, and the count if it is not 1.
func appendCounted(b []byte, difference uint64, n uint32) []byte {
	if n == 1 {
		return binary.AppendUvarint(b, difference<<1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, difference<<1|1), uint64(n))
}

// uvarint32 reads a varint that this package wrote in memory. It is short enough to be inlined.
func uvarint32(b []byte) (v uint32, n int) { return varintAt(b, 0) }

// varintAt reads the varint at index i, and returns the index behind it.
func varintAt(b []byte, i int) (uint32, int) {
	v := uint32(b[i])
	i++
	if v >= 0x80 {
		v &= 0x7f
		for shift := 7; ; shift += 7 {
			c := uint32(b[i])
			i++
			v |= c & 0x7f << (shift & 31)
			if c < 0x80 {
				break
			}
		}
	}
	return v, i
}
