package recall

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
)

// How much work one query may do.
const (
	maxScan   = 120_000 // index entries read for candidates
	maxPool   = 512     // candidates scored in full, beside their neighbours
	maxGroups = 96
)

// scratch is what one search needs and the next can use again.
type scratch struct {
	score   []float32 // by document
	touched []uint32
	rowOf   map[uint32]int32
	rows    []float32 // per scored document, one number for each group
	slots   []uint32  // by term: 1 + offset into uses
}

// Search answers a query. It is safe for concurrent use, and gives the same
// hits for the same documents whatever order they came in.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if q.K <= 0 {
		q.K = 10
	}
	q.K = min(q.K, MaxK)
	w := DefaultWeights()
	if q.Weights != nil {
		w = *q.Weights
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return Result{}, ErrClosed
	}
	r := ranking{core: x.core, q: &q, w: &w, s: s}
	return r.run(), nil
}

// ranking is one query under way.
type ranking struct {
	*core
	q       *Query
	w       *Weights
	s       *scratch
	ask     question
	mean    float64 // length of a document
	lexicon float64 // what the lexicon counts for this question
	uses    []use   // of terms in groups
	from    []uint32
}

// use is a term's part in a group.
type use struct {
	term   uint32
	group  uint32
	weight float32
}

func (r *ranking) run() Result {
	r.ask = r.understand(*r.q, r.w)
	if len(r.ask.groups) > maxGroups {
		r.ask.groups = r.ask.groups[:maxGroups]
	}
	out := Result{Shape: r.ask.shape}
	if r.alive == 0 || r.ask.never {
		return out
	}
	r.mean = max(1, float64(r.words)/float64(max(1, r.counted)))
	out.Scanned = r.scan()
	pool := r.pool(max(maxPool, 4*r.q.K))
	r.score(pool, &out)
	return out
}

// scan adds up, for every document that holds a term of the question, a BM25
// of the document alone: the rarest groups first, and none after the budget is
// used up. What it leaves out is scored all the same for documents that it finds.
func (r *ranking) scan() int {
	s := r.s
	if len(s.score) < len(r.docs) {
		s.score = make([]float32, len(r.docs)+len(r.docs)/4)
	}
	order := make([]int, len(r.ask.groups))
	for i := range order {
		order[i] = i
	}
	worth := func(g *group) float64 { return r.weightOf(g.signal) * g.idf * g.weight }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(worth(&r.ask.groups[b]), worth(&r.ask.groups[a]))
	})
	scanned := 0
	for _, i := range order {
		g := &r.ask.groups[i]
		gain := worth(g)
		if gain <= 0 {
			continue
		}
		for _, t := range g.terms {
			l := &r.lists[t.term]
			if scanned > 0 && scanned+int(l.df) > maxScan {
				continue
			}
			scanned += r.accumulate(l, float32(gain*t.weight))
		}
	}
	return scanned
}

func (r *ranking) weightOf(s signal) float64 {
	switch s {
	case sigString:
		return r.w.String
	case sigLexicon:
		return r.w.Lexicon
	case sigTime:
		return r.w.Time
	case sigEntity:
		return r.w.Entity
	}
	return 1
}

func (r *ranking) accumulate(l *list, gain float32) int {
	s := r.s
	d := uint32(0) // plus 1
	n := 0
	b := l.b
	for i := 0; i < len(b); n++ {
		v, k := uvarint32(b[i:])
		i += k
		d += v >> 1
		count := float32(1)
		if v&1 != 0 {
			c, k := uvarint32(b[i:])
			i += k
			count = float32(c)
		}
		m := &s.score[d-1]
		if *m == 0 {
			s.touched = append(s.touched, d-1)
		}
		*m += gain * count * 2.2 / (count + 1.2)
	}
	return n
}

// pool picks the n best of what was scanned, and clears the scores.
func (r *ranking) pool(n int) []uint32 {
	s := r.s
	better := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.score[b], s.score[a]), bytes.Compare(r.docs[a].id[:], r.docs[b].id[:]))
	}
	var best []uint32
	floor := float32(0)
	for _, d := range s.touched {
		if s.score[d] <= floor || r.docs[d].dead {
			continue
		}
		best = append(best, d)
		if len(best) == 2*n {
			slices.SortFunc(best, better)
			best = best[:n]
			floor = s.score[best[n-1]]
		}
	}
	slices.SortFunc(best, better)
	best = best[:min(n, len(best))]
	for _, d := range s.touched {
		s.score[d] = 0
	}
	s.touched = s.touched[:0]
	return best
}

// allowed reports whether a document may be a hit.
func (r *ranking) allowed(d uint32) bool {
	m := &r.docs[d]
	q := r.q
	if m.dead || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, m.kind) {
		return false
	}
	if len(q.Types) > 0 && (m.typ == 0 || !slices.Contains(q.Types, memory.Types[m.typ-1])) {
		return false
	}
	if q.Speaker != "" && r.names.text(m.speaker) != foldName(q.Speaker) {
		return false
	}
	if !q.From.IsZero() && (m.at == noTime || m.at < q.From.UnixMilli()) || !q.To.IsZero() && (m.at == noTime || m.at >= q.To.UnixMilli()) {
		return false
	}
	return q.Allow == nil || q.Allow(m.id)
}

// scored is one candidate with what each signal gave.
type scored struct {
	doc   uint32
	raw   [signals]float64
	near  float64 // lexicon on the turn alone
	reply float64 // match of the question that it answers
	parts []Part
	total float64
	cover float64
}

func (r *ranking) score(pool []uint32, out *Result) {
	r.index()
	width := len(r.ask.groups)
	s := r.s
	if s.rowOf == nil {
		s.rowOf = map[uint32]int32{}
	}
	clear(s.rowOf)
	s.rows = s.rows[:0]

	var list []scored
	seen := map[uint32]bool{}
	consider := func(d uint32) {
		if d == none || seen[d] {
			return
		}
		seen[d] = true
		if r.allowed(d) {
			list = append(list, scored{doc: d})
		}
	}
	for _, d := range pool {
		consider(d)
		a := r.anchor(d)
		for _, n := range r.around(a) {
			consider(n)
		}
	}
	var most [signals]float64
	var mostNear, mostReply float64
	ctx := make([]float64, width)
	for i := range list {
		c := &list[i]
		r.context(c, ctx)
		for g, v := range c.raw {
			most[g] = max(most[g], v)
		}
		mostNear, mostReply = max(mostNear, c.near), max(mostReply, c.reply)
	}
	best := 0.0
	for i := range list {
		best = max(best, list[i].cover)
	}
	r.lexicon = 1
	if r.ask.asks > 0 {
		r.lexicon += r.w.Uncovered * (1 - min(1, best/r.ask.asks))
	}
	if r.ask.list {
		r.lexicon += r.w.List
	}
	for i := range list {
		r.total(&list[i], &most, mostNear, mostReply)
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(r.docs[b.doc].at, r.docs[a.doc].at),
			bytes.Compare(r.docs[a.doc].id[:], r.docs[b.doc].id[:]))
	})
	for _, u := range r.uses {
		s.slots[u.term] = 0
	}
	r.hits(list, out)
}

// index makes the table from terms to their groups.
func (r *ranking) index() {
	s := r.s
	if len(s.slots) < len(r.lists) {
		s.slots = make([]uint32, len(r.lists)+len(r.lists)/4)
	}
	for g := range r.ask.groups {
		for _, t := range r.ask.groups[g].terms {
			r.uses = append(r.uses, use{t.term, uint32(g), float32(t.weight)})
		}
	}
	slices.SortStableFunc(r.uses, func(a, b use) int { return cmp.Compare(a.term, b.term) })
	for i, u := range r.uses {
		if i == 0 || r.uses[i-1].term != u.term {
			s.slots[u.term] = uint32(i + 1)
		}
	}
}

// anchor is the utterance whose place in the chain a document shares.
func (r *ranking) anchor(d uint32) uint32 {
	m := &r.docs[d]
	if m.source.IsZero() {
		return d
	}
	if a, ok := r.byID[m.source]; ok {
		return a
	}
	return d
}

// around is the chain at −2, −1, +1, +2; none where it ends.
func (r *ranking) around(d uint32) [4]uint32 {
	a := [4]uint32{none, none, none, none}
	m := &r.docs[d]
	if m.prev != none {
		a[1] = m.prev
		a[0] = r.docs[m.prev].prev
	}
	if m.next != none {
		a[2] = m.next
		a[3] = r.docs[m.next].next
	}
	return a
}

// row gives the counts of the question's groups in a document.
func (r *ranking) row(d uint32) []float32 {
	width := len(r.ask.groups)
	s := r.s
	if i, ok := s.rowOf[d]; ok {
		return s.rows[int(i)*width : int(i+1)*width]
	}
	i := len(s.rows) / max(1, width)
	s.rowOf[d] = int32(i)
	for range width {
		s.rows = append(s.rows, 0)
	}
	row := s.rows[i*width:]
	for t, n := range r.terms(d) {
		if int(t) >= len(s.slots) || s.slots[t] == 0 {
			continue
		}
		for j := s.slots[t] - 1; int(j) < len(r.uses) && r.uses[j].term == t; j++ {
			row[r.uses[j].group] += r.uses[j].weight * float32(n)
		}
	}
	return row
}

// bm is BM25's weight of a count in a document of some length.
func (r *ranking) bm(n, length float64) float64 {
	if n == 0 {
		return 0
	}
	return n * (r.w.K1 + 1) / (n + r.w.K1*(1-r.w.B+r.w.B*length/r.mean))
}

// context computes the signals of a candidate.
func (r *ranking) context(c *scored, sum []float64) {
	own := r.row(c.doc)
	length := float64(r.docs[c.doc].length)
	for g, v := range own {
		sum[g] = float64(v)
	}
	a := r.anchor(c.doc)
	around := r.around(a)
	spread := 1.0
	for i, n := range around {
		share := r.w.Context[i]
		if n == none || share == 0 {
			continue
		}
		spread += share
		length += share * float64(r.docs[n].length)
		for g, v := range r.row(n) {
			sum[g] += share * float64(v)
		}
	}
	_ = spread
	own = r.row(c.doc)
	for g := range r.ask.groups {
		k := &r.ask.groups[g]
		v := k.weight * k.idf * r.bm(sum[g], length/2.2)
		c.raw[k.signal] += v
		if k.signal == sigLexicon {
			c.near += k.weight * k.idf * r.bm(float64(own[g]), float64(r.docs[c.doc].length))
		}
		if k.signal == sigMatch && sum[g] > 0 {
			c.cover += k.weight * k.idf
		}
	}
	if q := around[1]; q != none && r.docs[q].flags&flagQuestion != 0 && r.docs[q].speaker != r.docs[a].speaker {
		row := r.row(q)
		for g := range r.ask.groups {
			if k := &r.ask.groups[g]; k.signal == sigMatch {
				c.reply += k.weight * k.idf * r.bm(float64(row[g]), float64(r.docs[q].length))
			}
		}
	}
}

// total weighs the signals.
func (r *ranking) total(c *scored, most *[signals]float64, mostNear, mostReply float64) {
	m := &r.docs[c.doc]
	w := r.w
	add := func(name string, v float64) {
		if v != 0 {
			c.parts = append(c.parts, Part{name, v})
			c.total += v
		}
	}
	part := func(v, most float64) float64 {
		if most == 0 {
			return 0
		}
		return v / most
	}
	match := part(c.raw[sigMatch], most[sigMatch])
	matter := r.lexicon * (w.Lexicon*part(c.raw[sigLexicon], most[sigLexicon]) + w.Near*part(c.near, mostNear))
	add("bm25_match", match)
	if r.ask.speaker != 0 && m.speaker == r.ask.speaker {
		add("speaker_match", w.Speaker*match+w.Theirs*matter)
	}
	add("string_match", w.String*part(c.raw[sigString], most[sigString]))
	add("lexicon_match", matter)
	add("time_match", w.Time*part(c.raw[sigTime], most[sigTime]))
	add("entity_match", w.Entity*part(c.raw[sigEntity], most[sigEntity]))
	add("context_match", w.Answer*part(c.reply, mostReply))
	if m.flags&flagQuestion != 0 {
		add("question", -w.Question)
	}
	if r.ask.shape == When && m.flags&flagTime != 0 {
		add("when", w.When)
	}
	if r.ask.shape == HowMany && m.flags&flagNumber != 0 {
		add("number", w.Number)
	}
	add("length", w.Length*math.Min(1, math.Log(1+float64(m.length))/4))
	if m.flags&flagPinned != 0 {
		add("pinned", w.Pinned)
	}
	c.total = math.Round(c.total*1e6) / 1e6
}

// hits folds memories with their utterances and keeps the best k.
func (r *ranking) hits(list []scored, out *Result) {
	at := map[uint32]int{} // hit by anchor
	for i := range list {
		c := &list[i]
		m := &r.docs[c.doc]
		if len(r.ask.exact) > 0 && !r.hasAll(c.doc) {
			continue
		}
		a := r.anchor(c.doc)
		if h, ok := at[a]; ok && !r.q.Apart {
			out.Hits[h].Also = append(out.Hits[h].Also, m.id)
			continue
		}
		if len(out.Hits) == r.q.K {
			continue
		}
		at[a] = len(out.Hits)
		h := Hit{ID: m.id, Kind: m.kind, Source: m.source, Session: r.names.text(m.session), Speaker: r.names.text(m.speaker), Score: c.total, Parts: c.parts}
		if m.typ > 0 {
			h.Type = memory.Types[m.typ-1]
		}
		if m.at != noTime {
			h.At = time.UnixMilli(m.at).UTC()
		}
		out.Hits = append(out.Hits, h)
		if len(out.Hits) <= 3 && r.ask.asks > 0 {
			out.Confidence = max(out.Confidence, c.cover/r.ask.asks)
		}
	}
}

func (r *ranking) hasAll(d uint32) bool {
	n := 0
	for t := range r.terms(d) {
		if slices.Contains(r.ask.exact, t) {
			n++
		}
	}
	return n >= len(r.ask.exact)
}
