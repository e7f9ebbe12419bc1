package recall

import (
	"cmp"
	"math"
	"slices"
)

// use is a term's part in a group.
type use struct {
	term   uint32
	group  uint32
	weight float32
}

// candidate is a document with the values of its signals before they are
// weighed.
type candidate struct {
	doc    uint32
	raw    [signals]float32
	near   float32 // match of the lexicon in the turn alone
	reply  float32 // match of the question that this turn answers
	quoted float32 // share of the question's quoted phrases
	told   float32 // of a memory: how much of its match its utterance has, too
	wider
	total float64
	lift  float64 // by how much total was raised, see ranking.lift; 0: not raised
}

// raise sets each signal of c to the greater of the two. The result over all
// candidates is what their signals are divided by. It does not touch the total.
func (c *candidate) raise(o *candidate) {
	for i, v := range o.raw {
		c.raw[i] = max(c.raw[i], v)
	}
	c.near, c.reply = max(c.near, o.near), max(c.reply, o.reply)
}

// rank scores the documents of the pool and their neighbours, and leaves them
// in s.list.
func (r *ranking) rank(pool []uint32) {
	s := r.s
	r.index()
	s.list, s.rowOf = s.list[:0], s.rowOf[:0]
	s.rows = append(s.rows[:0], make([]float32, len(r.ask.groups))...) // of documents without a term of the question
	if cap(s.sum) < len(r.ask.groups) {
		s.sum = make([]float32, maxGroups)
	}
	s.sum = s.sum[:len(r.ask.groups)]

	consider := func(d uint32, known bool) {
		if d == none || s.rowAt[d] != 0 {
			return
		}
		r.row(d)
		if known || r.allowed(d) {
			s.list = append(s.list, candidate{doc: d})
		}
	}
	for _, d := range pool {
		consider(d, true)
	}
	for _, d := range pool {
		for _, n := range r.around(r.anchor(d)) {
			consider(n, false)
		}
	}

	r.matches()
	var most candidate
	for i := range s.list {
		r.signals(&s.list[i])
		if len(r.ask.quotes) > 0 {
			s.list[i].quoted = r.quoted(s.list[i].doc)
		}
		most.raise(&s.list[i])
	}
	for i := range s.list {
		c := &s.list[i]
		for j := range c.raw {
			c.raw[j] = part(c.raw[j], most.raw[j])
		}
		c.near, c.reply = part(c.near, most.near), part(c.reply, most.reply)
	}
	r.tellings()
	r.sessions()
	r.trust = r.trusts()
	for i := range s.list {
		c := &s.list[i]
		r.weigh(c, func(_ string, v float64) { c.total += v })
		c.total = sixth(c.total)
	}
}

// tellings computes, for each memory, how much of its match its own utterance has, too.
func (r *ranking) tellings() {
	list := r.s.list
	if !slices.ContainsFunc(list, func(c candidate) bool { return r.docs[c.doc].kind() == Memory }) {
		return
	}
	at := map[uint32]float32{}
	for i := range list {
		if r.docs[list[i].doc].kind() == Utterance {
			at[list[i].doc] = list[i].raw[sigMatch]
		}
	}
	for i := range list {
		c := &list[i]
		if r.docs[c.doc].kind() == Memory && c.raw[sigMatch] > 0 {
			c.told = min(1, at[r.anchor(c.doc)]/c.raw[sigMatch])
		}
	}
}

// clear prepares the scratch for the next search.
func (r *ranking) clear() {
	for _, u := range r.uses {
		r.s.slots[u.term] = 0
	}
	r.s.asked = termFilter{}
	for _, d := range r.s.rowOf {
		r.s.rowAt[d] = 0
	}
	for _, d := range r.s.touched {
		r.s.score[d] = 0
	}
	r.s.touched = r.s.touched[:0]
}

func part(v, most float32) float32 {
	if most == 0 {
		return 0
	}
	return v / most
}

// index builds the table from each term to the groups that it belongs to.
func (r *ranking) index() {
	for g := range r.ask.groups {
		for _, t := range r.ask.groups[g].terms {
			r.uses = append(r.uses, use{t.term, uint32(g), float32(t.weight)})
		}
	}
	slices.SortStableFunc(r.uses, func(a, b use) int { return cmp.Compare(a.term, b.term) })
	for i, u := range r.uses {
		if i == 0 || r.uses[i-1].term != u.term {
			r.s.slots[u.term] = uint32(i + 1)
			r.s.asked.add(u.term)
		}
	}
}

// anchor returns the utterance whose place in the session a document shares.
func (r *ranking) anchor(d uint32) uint32 {
	m := &r.docs[d]
	if !m.sourced() {
		return d
	}
	if a, ok := r.find(r.sourceOf(m)); ok {
		return a
	}
	return d
}

// around returns the documents at −2, −1, +1 and +2 in the session of a
// document. An entry is none beyond either end of the session, and for a document that the asker
// may not know of.
func (r *ranking) around(d uint32) [4]uint32 {
	a := [4]uint32{none, none, none, none}
	m := &r.docs[d]
	if p := m.prev(); p != none {
		a[1] = p
		a[0] = r.docs[p].prev()
	}
	if m.next != none {
		a[2] = m.next
		a[3] = r.docs[m.next].next
	}
	for i, n := range a {
		if n != none && !r.shows(n) {
			a[i] = none
		}
	}
	return a
}

// blank reports whether the scan has shown that a document has no term of the question.
func (r *ranking) blank(d uint32) bool { return r.whole && r.s.score[d] == 0 }

// row returns the counts of the question's groups in a document. It is valid until the search ends,
// and must not be changed.
func (r *ranking) row(d uint32) []float32 {
	width := len(r.ask.groups)
	s := r.s
	if i := int(s.rowAt[d]); i > 0 {
		return s.rows[i-1 : i-1+width]
	}
	s.rowOf = append(s.rowOf, d)
	from := len(s.rows)
	if r.blank(d) {
		from = 0
	}
	s.rowAt[d] = uint32(from + 1)
	if from == 0 {
		return s.rows[:width]
	}
	s.rows = slices.Grow(s.rows, width)[:from+width]
	row := s.rows[from:]
	clear(row)
	own, set, base := r.termBytes(d) // like core.terms, which would call back for each
	if base != none {
		theirs, _, _ := r.termBytes(base)
		for i, t := 0, uint32(0); len(theirs) > 0 && i < 8*len(set); i++ {
			var n uint32
			if t, n, theirs = nextTerm(theirs, t); set[i/8]>>(i%8)&1 != 0 {
				r.count(row, t, n)
			}
		}
	}
	for t := uint32(0); len(own) > 0; {
		var n uint32
		t, n, own = nextTerm(own, t)
		r.count(row, t, n)
	}
	return row
}

// count adds a term to a row.
func (r *ranking) count(row []float32, t, n uint32) {
	if !r.s.asked.has(t) {
		return
	}
	slot := r.s.slots[t]
	if slot == 0 {
		return
	}
	for j := int(slot) - 1; j < len(r.uses) && r.uses[j].term == t; j++ {
		row[r.uses[j].group] += r.uses[j].weight * float32(n)
	}
}

// saturate is the weight that BM25 gives to a count of n. length is the length
// of the document divided by the mean length.
func (r *ranking) saturate(n, length float32) float32 {
	k1, b := float32(r.w.K1), float32(r.w.B)
	return n * (k1 + 1) / (n + k1*(1-b+b*length))
}

// contextLength normalises the length of a turn with its context. It is the sum
// of the weights of the turn and its context, a little reduced because turns at
// either end of a session have less context.
const contextLength = 2.2

// signals computes what each signal gives to a candidate.
func (r *ranking) signals(c *candidate) {
	a := r.anchor(c.doc)
	around := r.around(a)
	sum := r.s.sum
	copy(sum, r.row(c.doc))
	mean := float32(r.mean)
	alone := r.aloneLength(c.doc, a, mean)
	length := alone
	for i, n := range around {
		share := float32(r.w.Context[i])
		if n == none || share == 0 {
			continue
		}
		length += share * float32(r.docs[n].length) / mean
		if r.blank(n) {
			continue
		}
		for g, v := range r.row(n) {
			if v != 0 {
				sum[g] += share * v
			}
		}
	}
	length /= contextLength
	own := r.row(c.doc)
	r.widen(c, own, sum, alone)
	for g, n := range sum {
		if n == 0 {
			continue
		}
		k := &r.ask.groups[g]
		if k.signal == sigNumber { // a number in another line does not count for this one
			c.raw[sigNumber] = min(1, own[g])
			continue
		}
		worth := float32(k.weight * k.idf)
		c.raw[k.signal] += worth * r.saturate(n, length)
		if k.signal == sigLexicon && own[g] != 0 {
			c.near += worth * r.saturate(own[g], alone)
		}
	}
	if q := around[1]; q != none && r.docs[q].flags&flagQuestion != 0 && r.docs[q].speaker != r.docs[a].speaker {
		length := float32(r.docs[q].length) / mean
		for g, n := range r.row(q) {
			if k := &r.ask.groups[g]; n != 0 && k.signal == sigMatch {
				c.reply += float32(k.weight*k.idf) * r.saturate(n, length)
			}
		}
	}
}

// weigh calls add with the name and value of each part of a candidate's score
// that is not zero.
func (r *ranking) weigh(c *candidate, add func(name string, v float64)) {
	m := &r.docs[c.doc]
	w := r.w
	put := func(name string, v float64) {
		if v != 0 {
			add(name, v)
		}
	}
	match := float64(c.raw[sigMatch])
	matter := w.Lexicon*float64(c.raw[sigLexicon]) + w.Near*float64(c.near)
	put(PartMatch, match+r.wide(c))
	if r.ask.speaker != 0 && m.speaker == r.ask.speaker {
		put(PartSpeaker, w.Speaker*match+w.Theirs*matter)
	}
	put(PartString, w.String*float64(c.raw[sigString])+w.Exact*float64(c.raw[sigCode]+c.quoted))
	put(PartLexicon, matter)
	put(PartTime, r.timeWeight()*float64(c.raw[sigTime]))
	put(PartEntity, w.Entity*float64(c.raw[sigEntity]))
	put(PartGraph, r.graphWeight()*float64(c.raw[sigGraph]))
	put(PartContext, w.Answer*float64(c.reply))
	put(PartEmbedding, w.Embedding*r.trust*float64(r.embeds[c.doc]))
	if m.flags&flagQuestion != 0 {
		put(PartQuestion, -w.Question)
	}
	if r.ask.shape == When && (m.flags&flagTime != 0 || r.ask.length && c.raw[sigNumber] != 0) {
		put(PartWhen, w.When)
	}
	if r.ask.amount {
		put(PartNumber, w.Number*match*float64(c.raw[sigNumber]))
	}
	if r.ask.shape == Where && m.flags&flagPlace != 0 {
		put(PartWhere, w.Where)
	}
	put(PartLength, w.Length*math.Min(1, math.Log(1+float64(m.length))/4))
	if m.flags&flagPinned != 0 {
		put(PartPinned, w.Pinned)
	}
	put(PartDerived, -w.Derived*float64(c.told))
}

// fraction scales a score to the range from 0 to 1.
func (r *ranking) fraction(total float64) float64 {
	return sixth(max(0, min(1, total/r.most())))
}

// parts returns the parts of a candidate's score, on the same scale as the
// score. They add up to it, except where the score is cut to the range from 0
// to 1.
func (r *ranking) parts(c *candidate) []Part {
	out := make([]Part, 0, 8)
	most := r.most()
	r.weigh(c, func(name string, v float64) {
		out = append(out, Part{name, sixth(v * max(1, c.lift) / most)})
	})
	addUp(out, c.total/most)
	return out
}

// sixth rounds to six places, which hides the rounding errors of another order
// of adding.
func sixth(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// addUp adds the rounding errors of the parts to the greatest part, so that the sum of the parts is
// the score.
func addUp(parts []Part, score float64) {
	rest := sixth(score)
	greatest := 0
	for i, p := range parts {
		rest -= p.Value
		if p.Value > parts[greatest].Value {
			greatest = i
		}
	}
	if math.Abs(rest) < 1e-6*float64(len(parts)) { // a greater difference does not come from rounding
		parts[greatest].Value = sixth(parts[greatest].Value + rest)
	}
}
