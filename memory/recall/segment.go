package recall

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// A segment, version 3: "LKR3", and one deflate stream (RFC 1951) to its end, with the following
// content. Numbers are varints (unsigned LEB128) unless said otherwise. There is no checksum,
// because the store of segments seals them.
//
//	bytes       what
//	varint      names: sessions and speakers; then each: varint length, UTF-8
//	varint      terms, ascending by their bytes; then each: varint length of
//	            the prefix shared with the previous one, varint length of the rest, rest
//	varint      documents; then each:
//	  16        id
//	  1         kind: 1 utterance, 2 memory; of a memory whose sensitivity is known,
//	            4 times 1 + its sensitivity more
//	  1         type: 0 none, else 1 + index in memory.Types; of a plain memory 8 more
//	  1         flags: 1 pinned, 2 asks, 4 names a time, 8 source follows, 16 superseded, 32 says where
//	  (varint   how many documents before this one the source is; 0: not
//	            here, and its id follows, 16 bytes), if flag 8 is set
//	  varint    zigzag of At in Unix milliseconds minus that of the document
//	            before (the first: 0), modulo 2^64; -2^63 is not known
//	  varint    order
//	  varint    session: 0 none, else 1 + index of name
//	  varint    speaker: likewise
//	  varint    length in words
//	  varint    distinct terms; then each, ascending: varint of twice the difference
//	            to the term before (the first: to 0), plus one if a varint
//	            follows, its count, at least 2
//
// Nothing may follow. A memory mostly has the words of the line that it was made from, and
// documents of one session share a date and speakers, so deflate needs little more for such a
// document than its id.
const segmentMagic = "LKR3"

const flagSource = 8

// Limits on what a segment may claim.
const (
	maxSegmentDocs = 1 << 16
	maxSegment     = 64 << 20 // bytes, also once it is inflated
)

// encode writes the given documents of c, in that order.
func encode(c *core, docs []uint32) []byte { return deflated(segmentMagic, plainSegment(c, docs)) }

// segmentWriter writes a segment before it is deflated.
type segmentWriter struct {
	c      *core
	b      []byte
	nameAt map[uint32]uint64 // the number of a name in the segment; 0: none
	termAt map[uint32]uint32 // the index of a term in the segment
}

// plainSegment returns what encode deflates.
func plainSegment(c *core, docs []uint32) []byte {
	used := map[uint32]bool{}
	w := segmentWriter{c: c, nameAt: map[uint32]uint64{0: 0}}
	var names []uint32
	for _, d := range docs {
		for t := range c.terms(d) {
			used[t] = true
		}
		for _, n := range []uint32{c.docs[d].session, c.docs[d].speaker} {
			if _, ok := w.nameAt[n]; !ok {
				names = append(names, n)
				w.nameAt[n] = uint64(len(names))
			}
		}
	}
	w.number(len(names))
	for _, n := range names {
		s := c.names.bytes(n)
		w.number(len(s))
		w.b = append(w.b, s...)
	}
	w.terms(used)
	w.docs(docs)
	return w.b
}

func (w *segmentWriter) number(n int) { w.b = binary.AppendUvarint(w.b, uint64(n)) }

// terms writes the terms that the documents use, ascending, each without the prefix that it shares
// with the previous one.
func (w *segmentWriter) terms(used map[uint32]bool) {
	terms := make([]uint32, 0, len(used))
	for t := range used {
		terms = append(terms, t)
	}
	slices.SortFunc(terms, func(a, b uint32) int { return bytes.Compare(w.c.dict.bytes(a), w.c.dict.bytes(b)) })
	w.termAt = make(map[uint32]uint32, len(terms))
	w.number(len(terms))
	var last []byte
	for i, t := range terms {
		w.termAt[t] = uint32(i)
		s := w.c.dict.bytes(t)
		share := 0
		for share < len(s) && share < len(last) && s[share] == last[share] {
			share++
		}
		w.number(share)
		w.number(len(s) - share)
		w.b = append(w.b, s[share:]...)
		last = s
	}
}

// docs writes the documents. Names and terms come first, because each document refers to them by
// number.
func (w *segmentWriter) docs(docs []uint32) {
	c := w.c
	w.number(len(docs))
	placeOf := make(map[uint32]int, len(docs))
	var counts []tf
	before := int64(0)
	for i, d := range docs {
		m := &c.docs[d]
		placeOf[d] = i
		w.b = append(w.b, m.id[:]...)
		flags := m.flags & (flagsKnown | flagSource)
		w.b = append(w.b, m.sens()<<2|byte(m.kind()), m.what&(whatType|whatPlain), flags)
		if flags&flagSource != 0 {
			source := c.sourceOf(m)
			at, here := 0, false
			if s, lives := c.find(source); lives {
				at, here = placeOf[s]
			}
			if here && at < i {
				w.number(i - at)
			} else {
				w.number(0)
				w.b = append(w.b, source[:]...)
			}
		}
		w.b = binary.AppendVarint(w.b, m.at-before)
		before = m.at
		w.b = binary.AppendUvarint(w.b, c.orderOf(d))
		w.b = binary.AppendUvarint(w.b, w.nameAt[m.session])
		w.b = binary.AppendUvarint(w.b, w.nameAt[m.speaker])
		w.number(int(m.length))
		counts = counts[:0]
		for t, n := range c.terms(d) {
			counts = append(counts, tf{w.termAt[t], n})
		}
		sortTerms(counts)
		w.number(len(counts))
		at := uint32(0)
		for _, x := range counts {
			w.b = appendCounted(w.b, uint64(x.term-at), x.n)
			at = x.term
		}
	}
}

// isSegment reports whether b begins like a segment.
func isSegment(b []byte) bool { return bytes.HasPrefix(b, []byte(segmentMagic)) }

// segmentDoc is one document of a segment, with terms as indexes into the segment's terms.
type segmentDoc struct {
	meta   meta // session and speaker: 0 none, else 1 + index of name
	order  uint64
	source memory.ID
	terms  []tf
}

// decode reads a segment strictly: bytes that encode would not have written give an error that
// wraps ErrCorrupt, never a panic. yield gets each document in turn; its terms are valid until it
// returns.
func decode(b []byte, begin func(names, terms []string) error, yield func(segmentDoc) error) error {
	if len(b) > maxSegment || !isSegment(b) {
		return fmt.Errorf("%w: magic or size", ErrCorrupt)
	}
	b, err := inflated(b[len(segmentMagic):])
	if err != nil {
		return err
	}
	r := reader{b: b}
	names := make([]string, r.count(1))
	seen := map[string]bool{}
	for i := range names {
		names[i] = string(r.take(r.length()))
		if r.bad || names[i] == "" || seen[names[i]] {
			return fmt.Errorf("%w: name %d", ErrCorrupt, i)
		}
		seen[names[i]] = true
	}
	terms := make([]string, r.count(2))
	var last []byte
	for i := range terms {
		share := r.length()
		rest := r.take(r.length())
		if r.bad || share > len(last) || share < len(last) && len(rest) > 0 && last[share] == rest[0] {
			return fmt.Errorf("%w: term %d", ErrCorrupt, i)
		}
		t := append(last[:share:share], rest...)
		if i > 0 && bytes.Compare(t, last) <= 0 || len(t) == 0 {
			return fmt.Errorf("%w: order of term %d", ErrCorrupt, i)
		}
		terms[i], last = string(t), t
	}
	n := r.count(16 + 3 + 6)
	if r.bad || n > maxSegmentDocs {
		return fmt.Errorf("%w: number of documents", ErrCorrupt)
	}
	if err := begin(names, terms); err != nil {
		return err
	}
	var doc segmentDoc
	for i := range n {
		r.doc(&doc, len(names), len(terms))
		if r.bad {
			return fmt.Errorf("%w: document %d", ErrCorrupt, i)
		}
		if err := yield(doc); err != nil {
			return err
		}
	}
	if len(r.b) != 0 {
		return fmt.Errorf("%w: %d bytes after the end", ErrCorrupt, len(r.b))
	}
	return nil
}

// reader reads from the front of a byte slice. bad is set, and stays set, once
// a value is missing or malformed.
type reader struct {
	b   []byte
	bad bool
	ids []memory.ID // ids of the documents so far
	at  int64       // time of the last document
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		r.b = nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// number reads a varint in its shortest form.
func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.bad = true
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) length() int {
	if v := r.number(); v <= uint64(len(r.b)) {
		return int(v)
	}
	r.bad = true
	return 0
}

// count reads the number of items that follow. Each takes at least size bytes,
// so a number that can't be true is refused.
func (r *reader) count(size int) int {
	if v := r.number(); v <= uint64(len(r.b)/size) {
		return int(v)
	}
	r.bad = true
	return 0
}

func (r *reader) upTo(limit uint64) uint64 {
	v := r.number()
	if v > limit {
		r.bad = true
		return 0
	}
	return v
}

// source reads the source of the document after those in ids.
func (r *reader) source() (id memory.ID) {
	if back := r.upTo(uint64(len(r.ids))); back > 0 && !r.bad {
		return r.ids[uint64(len(r.ids))-back]
	}
	copy(id[:], r.take(16))
	return id
}

// counted reads a term's difference and its count. A count of 0 means that
// there is no term.
func (r *reader) counted() (difference, n uint64) {
	difference = r.number()
	if difference&1 == 0 {
		return difference >> 1, 1
	}
	if n = r.upTo(1 << 24); n == 1 {
		n = 0 // a count of 1 would be written without the count
	}
	return difference >> 1, n
}

func (r *reader) doc(d *segmentDoc, names, terms int) {
	m, source := meta{}, memory.ID{}
	copy(m.id[:], r.take(16))
	head := r.take(3)
	if r.bad {
		return
	}
	kind, sens, typ, plain := Kind(head[0]&3), head[0]>>2, head[1]&whatType, head[1]&whatPlain != 0
	m.what, m.flags = whatOf(kind, typ, sens, plain), head[2]&flagsKnown
	if kind != Utterance && kind != Memory || sens > 1+uint8(memory.Secret) || (sens > 0 || plain) && kind != Memory || head[1]&^(whatType|whatPlain) != 0 || int(typ) > len(memory.Types) || head[2]&^(flagsKnown|flagSource) != 0 || m.id.IsZero() {
		r.bad = true
		return
	}
	if head[2]&flagSource != 0 {
		source = r.source()
		r.bad = r.bad || source.IsZero()
	}
	at := r.number()
	m.at = int64(at>>1) ^ -int64(at&1)
	m.at += r.at
	r.at = m.at
	r.ids = append(r.ids, m.id)
	order := r.number()
	m.session = uint32(r.upTo(uint64(names)))
	m.speaker = uint32(r.upTo(uint64(names)))
	m.length = uint16(min(r.upTo(1<<24), mostWords))
	n := r.count(1)
	if n > maxTerms {
		r.bad = true
		return
	}
	d.meta, d.order, d.source, d.terms = m, order, source, d.terms[:0]
	t := uint64(0)
	for i := 0; i < n && !r.bad; i++ {
		delta, c := r.counted()
		if delta > uint64(terms) || delta == 0 && i > 0 || c == 0 {
			r.bad = true
			return
		}
		t += delta
		if t >= uint64(terms) {
			r.bad = true
			return
		}
		d.terms = append(d.terms, tf{uint32(t), uint32(c)})
	}
}
