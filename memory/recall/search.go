package recall

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// How much work one query may do, whatever the size of the index.
const (
	maxScan   = 120_000 // index entries read to find candidates
	maxGroups = 128
	poolBase  = 64 // this many candidates are scored in full, besides their neighbours in the chain,
	poolPerK  = 3  // and this many more for each hit that is wanted
)

// scratch is the working memory of one search, which the next search uses
// again. Between searches score, rowAt, slots and asked are all zero, and the
// other slices are empty.
type scratch struct {
	score   []float32 // by document
	touched []uint32
	rowAt   []uint32  // by document: 1 + where its row begins
	rowOf   []uint32  // documents that have a row
	rows    []float32 // per row, one number for each group; the first row is all zero
	slots   []uint32  // by term: 1 + offset into ranking.uses
	asked   termFilter
	shared  []uint16 // by term: letter runs shared with the question's word
	alike   []uint32 // terms with shared set
	list    []candidate
	order   []uint64 // the candidates of list as scored by their indexes, the best first
	sum     []float32
}

// termFilter has one bit for all terms of equal number modulo its size. If it has not the bit of a
// term, slots has no entry for the term. Most terms of a document are in no question, and the
// filter stays in the processor's nearest cache, where slots does not.
type termFilter [64]uint64

func (f *termFilter) add(t uint32)      { f[t/64%64] |= 1 << (t % 64) }
func (f *termFilter) has(t uint32) bool { return f[t/64%64]>>(t%64)&1 != 0 }

// fit makes the scratch long enough for an index.
func (s *scratch) fit(docs, terms int) {
	if len(s.score) < docs {
		n := docs + docs/4 + 64
		s.score, s.rowAt = make([]float32, n), make([]uint32, n)
	}
	if len(s.slots) < terms {
		n := terms + terms/4 + 64
		s.slots, s.shared = make([]uint32, n), make([]uint16, n)
	}
}

// MaxQuestion is how many bytes of a question are read. The work for a question grows with the square of its length:
// 60 kB took a processor five seconds.
const MaxQuestion = 4 << 10

// Search answers a query; it reads only the first 4 KiB of the question. It is safe for concurrent
// use, and gives the same hits for the same documents, whatever order they came in. With a model,
// they depend on how far it agreed with earlier questions, too.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if q.K <= 0 {
		q.K = 10
	}
	q.K = min(q.K, MaxK)
	q.Text = memory.Cut(q.Text, MaxQuestion)
	w := DefaultWeights()
	if q.Weights != nil {
		w = *q.Weights
	}
	var near denseAnswer
	var skips []Skip
	if q.Models.Dense != nil && w.Embedding > 0 {
		var err error
		if near.list, err = x.near(ctx, &q); err != nil {
			if ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			skips = append(skips, skipped(PartEmbedding, err))
		}
		near.past = x.dense.past()
	}
	k := q.K
	reranks := q.Models.Reranker != nil && q.Models.Texts != nil && w.Rerank > 0
	if reranks {
		q.K = min(max(k, cmp.Or(q.Models.First, DefaultFirst)), MaxK)
	}
	out, err := x.searchAllowed(ctx, q, &w, near)
	if out.canAgree > 0 {
		x.dense.agree(out.agreed, out.canAgree, q.Text)
	}
	if err == nil && reranks {
		counts, failed := x.rerank(ctx, &q, &w, &out)
		if failed != nil {
			if ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			skips = append(skips, skipped(PartRerank, failed))
		}
		if !counts && q.K > k { // more hits were looked for than without the reranker
			q.K = k
			out, err = x.searchAllowed(ctx, q, &w, near)
		}
		out.Hits = out.Hits[:min(k, len(out.Hits))]
	}
	out.Skipped = skips
	return out, err
}

// FoldQuestion gives a question, and its beginning own, simplified characters.
func FoldQuestion(text, own string) (folded, foldedOwn string) {
	folded = hans.Fold(text)
	if strings.HasPrefix(text, own) {
		return folded, folded[:len(own)]
	}
	return folded, hans.Fold(own)
}

// search answers a query from the index, and from the documents that a model found near.
func (x *Index) search(q Query, w *Weights, near denseAnswer, a *asking) (Result, error) {
	s := x.scratch.Get().(*scratch)
	out, err := x.searchIn(s, q, w, near, a)
	x.scratch.Put(s) // if a filter panics, s has the rest of this search and is not used again
	return out, err
}

func (x *Index) searchIn(s *scratch, q Query, w *Weights, near denseAnswer, a *asking) (Result, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return Result{}, ErrClosed
	}
	s.fit(len(x.core.docs), len(x.core.lists))
	q.Text, q.Own = FoldQuestion(q.Text, q.Own)
	c := x.core
	if q.IsShown != nil {
		c = c.within(q.IsShown)
	}
	out, strict := c.answer(&q, w, s, a, near)
	if !strict || len(out.Hits) > 0 {
		return out, nil
	}
	q.Text = unquote(q.Text)
	out, _ = c.answer(&q, w, s, a, near)
	out.Unquoted = true
	return out, nil
}

// answer ranks with the documents that a model found near, or without them if the model does not
// agree with the words. strict is [question.strict].
func (c *core) answer(q *Query, w *Weights, s *scratch, a *asking, near denseAnswer) (out Result, strict bool) {
	r := ranking{core: c, q: q, w: w, s: s, asking: a, near: near}
	r.embed()
	if out = r.run(); r.embeds != nil && r.trust == 0 {
		out, strict = c.answer(q, w, s, a, denseAnswer{})
	} else {
		strict = r.ask.strict
	}
	out.agreed, out.canAgree = r.agreed, r.canAgree
	return out, strict
}

// ranking is the state of one query while it is answered.
type ranking struct {
	*core
	q                *Query
	w                *Weights
	s                *scratch
	asking           *asking   // nil: Allow is quick
	was              []float32 // used by cover
	ask              question
	mean             float64 // length of a document
	whole            bool    // no list was left out of the scan, so each document with a term of the question has a score
	uses             []use
	near             denseAnswer
	agreed, canAgree float64            // see agrees
	nearby           []uint32           // documents that a model returned, the nearest first
	embeds           map[uint32]float32 // their similarity, 0 to 1
	trust            float64            // 0 to 1: how much the model agrees with the words, see agrees
	worth            [maxGroups]float32 // by group: worth of a match of words; 0: a group of another signal
	asked            float32            // sum of worth
}

func (r *ranking) run() Result {
	r.ask = r.understand(*r.q, r.s, r.w)
	r.ask.groups = r.ask.groups[:min(len(r.ask.groups), maxGroups)]
	r.ask.owner = slices.DeleteFunc(r.ask.owner, func(g int) bool { return g >= maxGroups })
	out := Result{Shape: r.ask.shape}
	if r.alive == 0 {
		return out
	}
	r.mean = max(1, float64(r.words)/float64(max(1, r.counted)))
	out.Scanned = r.scan()
	n := poolBase + poolPerK*r.q.K
	r.rank(r.withNearby(r.pool(n), n))
	r.hits(&out)
	out.most = r.most()
	r.clear()
	return out
}

// allowed reports whether a document may be a hit.
func (r *ranking) allowed(d uint32) bool {
	return r.fits(d) && (r.q.Allow == nil || r.q.Allow(r.about(d)))
}

// about returns what Allow and IsShown are told about a document.
func (c *core) about(d uint32) About {
	m := &c.docs[d]
	a := About{ID: m.id, Kind: m.kind(), Plain: m.plain(), Type: m.memoryType()}
	if s := m.sens(); s > 0 {
		a.Sensitivity, a.Rated = memory.Sensitivity(s-1), true
	}
	return a
}

// fits reports whether a document may be a hit, as far as the index knows.
func (r *ranking) fits(d uint32) bool {
	m := &r.docs[d]
	q := r.q
	if m.dead() || m.flags&flagPast != 0 && !q.Past || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, m.kind()) {
		return false
	}
	if len(q.Types) > 0 && !slices.Contains(q.Types, m.memoryType()) {
		return false
	}
	if q.Speaker != "" && r.names.text(m.speaker) != foldName(q.Speaker) {
		return false
	}
	if !q.From.IsZero() && (m.at == noTime || m.at < q.From.UnixMilli()) || !q.To.IsZero() && (m.at == noTime || m.at >= q.To.UnixMilli()) {
		return false
	}
	return true
}

// hits joins an utterance with the best of the memories that quote it, and
// keeps the best k. Another memory of the utterance is a hit of its own if it says something else,
// for example the next value of a list.
func (r *ranking) hits(out *Result) {
	if !r.q.Apart {
		r.lift()
	}
	r.order()
	at := map[uint32]int{}         // hit by anchor
	var docs []uint32              // by hit: its best document
	shown := map[uint32][]uint32{} // memories that are hits, by anchor
	for _, o := range r.s.order {
		c := &r.s.list[uint32(o)]
		m := &r.docs[c.doc]
		if r.ask.strict && c.quoted < 1 {
			continue
		}
		a := r.anchor(c.doc)
		h, ok := at[a]
		sibling := ok && m.kind() == Memory && out.Hits[h].Kind == Memory && r.docs[a].kind() == Utterance
		if sibling && !r.q.Apart && slices.ContainsFunc(shown[a], func(d uint32) bool { return r.docs[d].typ() == m.typ() && r.saysNoMore(c.doc, d) }) {
			out.Hits[h].Also = append(out.Hits[h].Also, m.id)
			continue
		}
		if ok && !r.q.Apart && !sibling {
			hit := &out.Hits[h]
			if m.kind() == Memory && hit.Kind == Utterance {
				// The search found the utterance, and the hit shows the memory
				// that was made from it, because the memory has dates and a
				// state.
				hit.Also = append(hit.Also, hit.ID)
				hit.ID, hit.Kind, hit.Source, hit.Type = m.id, Memory, r.sourceOf(m), m.memoryType()
				shown[a] = append(shown[a], c.doc)
				continue
			}
			hit.Also = append(hit.Also, m.id)
			continue
		}
		if len(out.Hits) == r.q.K {
			continue
		}
		if !sibling {
			at[a] = len(out.Hits)
		}
		if m.kind() == Memory {
			shown[a] = append(shown[a], c.doc)
		}
		hit := Hit{
			ID: m.id, Kind: m.kind(), Source: r.sourceOf(m), Session: r.names.text(m.session), Speaker: r.names.text(m.speaker),
			Score: r.fraction(c.total), Parts: r.parts(c),
		}
		hit.Type = m.memoryType()
		if m.at != noTime {
			hit.At = time.UnixMilli(m.at).UTC()
		}
		out.Hits, docs = append(out.Hits, hit), append(docs, c.doc)
	}
	for i := range out.Hits {
		if h := &out.Hits[i]; h.Kind == Utterance {
			h.Past = sorting.Sorted(slices.Values(r.taken[h.ID]), func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
		}
	}
	out.Confidence = r.confidence(r.surest())
	says := make([]share, len(docs))
	for i, d := range docs {
		says[i] = r.says(d)
	}
	minor(out.Hits, says, out.Confidence)
}

// order sorts the candidates.
func (r *ranking) order() {
	s := r.s
	s.order = s.order[:0]
	for i := range s.list {
		s.order = append(s.order, scored(float32(max(0, s.list[i].total)), uint32(i)))
	}
	sortScored(s.order, func(i, j uint32) int {
		a, b := &s.list[i], &s.list[j]
		return cmp.Or(cmp.Compare(b.total, a.total), r.tie(a.doc, b.doc))
	})
}

// saysNoMore reports whether another document has every word of a document.
func (r *ranking) saysNoMore(d, other uint32) bool {
	theirs := map[uint32]bool{}
	for t := range r.terms(other) {
		theirs[t] = true
	}
	for t := range r.terms(d) {
		if !theirs[t] && r.dict.bytes(t)[0] > numberMark[0] { // dates, names and relations don't count as words
			return false
		}
	}
	return true
}

// lift raises the memories of an utterance that scores better than all of them.
// The best of them is shown in its place, and the others keep their distance to the best, so that
// the values of one list stay together.
func (r *ranking) lift() {
	list, best := r.s.list, map[uint32]float64{} // the best memory of each utterance
	for i := range list {
		if c := &list[i]; r.docs[c.doc].kind() == Memory && !(r.ask.strict && c.quoted < 1) {
			a := r.anchor(c.doc)
			best[a] = max(best[a], c.total)
		}
	}
	if len(best) == 0 {
		return
	}
	said := make(map[uint32]float64, len(best))
	for i := range list {
		c := &list[i]
		if _, has := best[c.doc]; has && r.docs[c.doc].kind() == Utterance && !(r.ask.strict && c.quoted < 1) {
			said[c.doc] = c.total
		}
	}
	for i := range list {
		c := &list[i]
		a := r.anchor(c.doc)
		// The utterance stays first within its hit, by the smallest difference that a score can
		// have.
		if u, b := said[a]-1e-6, best[a]; a != c.doc && b > 0 && u > b {
			c.lift = u / b
			c.total *= c.lift
		}
	}
}

// quoted returns the share of the question's quoted phrases that a document has. A phrase counts if
// the document has all of its words.
func (r *ranking) quoted(d uint32) float32 {
	held := 0
	for _, p := range r.ask.quotes {
		n := 0
		for t := range r.terms(d) {
			if slices.Contains(p.terms, t) {
				n++
			}
		}
		if !p.never && n == len(p.terms) && (r.q.Holds == nil || r.q.Holds(r.docs[d].id, p.text)) {
			held++
		}
	}
	return float32(held) / float32(len(r.ask.quotes))
}
