package query

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// defaultHits is how many hits a search gives if the request does not say.
const defaultHits = 10

// Search implements serve.Recaller.
func (rd Reader) Search(ctx context.Context, r serve.SearchRequest) (res serve.SearchResult, err error) {
	qr, release, err := rd.of.Use()
	if err != nil {
		return res, err
	}
	defer release()
	if res, err = qr.Find(ctx, r); err != nil {
		return res, err
	}
	texts := make([]string, len(res.Hits))
	for i := range res.Hits {
		texts[i] = res.Hits[i].Text
	}
	for i := range res.Hits {
		if m := res.Hits[i].Memory; m != nil && res.Hits[i].SharedBy == nil {
			qr.uses.note(m.ID, qr.c.Now())
		}
	}
	qr.c.Served(qr.c.Now(), texts...)
	return res, nil
}

// Find is Search, but its hits do not count as given out or as used.
func (qr *Query) Find(ctx context.Context, r serve.SearchRequest) (res serve.SearchResult, err error) {
	r.Query, r.Own = memory.Cut(r.Query, recall.MaxQuestion), memory.Cut(r.Own, recall.MaxQuestion)
	choice, err := qr.chooserOf(&r)
	if err != nil {
		return res, err
	}
	return qr.find(ctx, r, choice)
}

// find is Find with a chooser that searches of one request share. It asks the index,
// fetches cold hits, and reads the hits' records. Each of these has its own transaction:
// with one for the whole search, a slow model would keep the store from closing.
func (qr *Query) find(ctx context.Context, r serve.SearchRequest, choice *chooser) (res serve.SearchResult, err error) {
	ctx, work := span.Start(ctx, "recall")
	defer func() {
		work.Count("locket.hits", len(res.Hits))
		work.End(err)
	}()
	k := cmp.Or(r.K, defaultHits)
	read := qr.documents(ctx)
	q := qr.indexQuery(read, &r, k)
	if choice.narrows() {
		if q.Glance, q.Allow, err = qr.filtering(ctx, choice); err != nil {
			return res, err
		}
	} else if len(choice.gone) > 0 {
		q.Allow = func(a recall.About) bool { return !choice.gone[a.ID] }
	}
	var look *sight
	if choice.sees != nil {
		if look, err = qr.seeing(ctx, choice.sees); err != nil {
			return res, err
		}
		q.Shown = look.shows
	}
	found, err := qr.look(ctx, q, look)
	if err = errors.Join(err, choice.failed(), ctx.Err()); err != nil {
		return res, err
	}
	if err := qr.fetchHits(ctx, found.Hits); err != nil {
		return res, err
	}
	f := finding{qr: qr, r: &r, q: &q, choice: choice, res: &res}
	gone := len(choice.gone)
	res.Hits = []serve.Hit{}
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		res.Confidence, res.Known = found.Confidence, len(found.Hits) > 0 && found.Confidence >= recall.Unsure
		res.Shape, res.Unquoted = string(found.Shape), found.Unquoted
		for _, s := range found.Skipped {
			res.Skipped = append(res.Skipped, serve.SkippedPart{Part: s.Part, Reason: string(s.Reason)})
		}
		f.past = map[memory.ID][]memory.ID{}
		for _, h := range found.Hits {
			if h.Score < r.Threshold {
				break
			}
			if err := f.add(tx, h); err != nil {
				return err
			}
		}
		f.markTyped()
		return f.addReplacing(tx, k)
	})
	if n := len(choice.gone); err == nil && n > gone && n < mostGone {
		return qr.find(ctx, r, choice) // without them: they have taken others' places, and their confidence
	}
	if err == nil {
		err = qr.addGiven(ctx, &r, q, choice, &res)
	}
	if err == nil {
		err = qr.addTodo(ctx, &r, choice, k, &res)
	}
	if err == nil {
		err = qr.addWhereabouts(ctx, &r, choice, k, &res)
	}
	if err != nil {
		return serve.SearchResult{}, err
	}
	ownFirst(r.Query, res.Hits, mayBeWearers(r.Filters))
	relationFirst(r.Query, res.Hits)
	res.Known = res.Known && slices.ContainsFunc(res.Hits, func(h serve.Hit) bool { return !h.Minor })
	return res, nil
}

// indexQuery is what the index is asked for a request, but for what a filter allows.
func (qr *Query) indexQuery(read reader, r *serve.SearchRequest, k int) recall.Query {
	now := qr.c.Now()
	switch {
	case !r.At.IsZero():
		now = r.At
	case !r.AsOf.IsZero():
		now = r.AsOf
	}
	q := recall.Query{Text: r.Query, Own: r.Own, Now: now, Zone: qr.c.Zone.String(), Wearer: qr.c.Wearer, K: k, Types: r.Types, From: r.Since, To: r.Until,
		Past: r.History || !r.AsOf.IsZero() || !r.KnownAt.IsZero(), Models: qr.c.Models}
	switch r.Only {
	case "memories":
		q.Kinds = []recall.Kind{recall.Memory}
	case "utterances":
		q.Kinds = []recall.Kind{recall.Utterance}
	}
	q.Holds = func(id memory.ID, p recall.Phrase) bool { return p.In(read(id).text()) }
	own := cmp.Or(r.Own, r.Query)
	owner, doubts, tells := qr.owner(own)
	var others check
	if mayBeWearers(r.Filters) {
		others = belongsToOther(r.Query)
	}
	q.Owner, q.Tells, q.Doubts, q.Counts = owner, read.any(tells), read.any(hearsay(r.Query), others, doubts), read.counts(own)
	return q
}

// filtering returns the functions by which the index asks whether a document passes the
// request's filter: as far as the index knows, and by reading it.
func (qr *Query) filtering(ctx context.Context, choice *chooser) (glance func(recall.About) (ok, sure bool), read func(recall.About) bool, err error) {
	cold := 0
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) (err error) { cold, err = tx.ColdCount(); return err })
	if err != nil {
		return nil, nil, err
	}
	glance = func(a recall.About) (ok, sure bool) {
		v := choice.glance(a)
		switch {
		case v == filter.No || choice.gone[a.ID]:
			return false, true
		case v == filter.Yes && cold == 0: // a filter never chooses a cold memory, and the index does not know which are cold
			return true, true
		}
		return false, false
	}
	return glance, func(a recall.About) (ok bool) {
		err := qr.c.Engine.View(ctx, func(tx *store.Tx) error { ok = choice.allows(qr, tx, a.ID, a.Kind); return nil })
		return err == nil && ok
	}, nil
}

// sight tells the index of which documents the caller may know. Some have to be read for that:
// it notes them and refuses them, until they have been read while nobody holds the index. What
// is beyond mostSeen it refuses.
type sight struct {
	glance func(recall.About) (ok, sure bool)
	read   func(recall.About) bool
	known  map[memory.ID]bool
	open   []recall.About // noted, and not read yet
	most   int            // that are noted by one search
	last   bool           // what is not known is read at once
}

func (qr *Query) seeing(ctx context.Context, choice *chooser) (*sight, error) {
	glance, read, err := qr.filtering(ctx, choice)
	return &sight{glance: glance, read: read, known: map[memory.ID]bool{}, most: firstSeen}, err
}

func (s *sight) shows(a recall.About) bool {
	if ok, sure := s.glance(a); sure {
		return ok
	}
	ok, known := s.known[a.ID]
	switch {
	case known, len(s.known) >= mostSeen, !s.last && len(s.open) >= s.most:
		return ok
	case s.last:
		ok = s.read(a)
	default:
		s.open = append(s.open, a)
	}
	s.known[a.ID] = ok
	return ok
}

// look asks the index, again after each reading of what the caller may know of. Models are
// asked once, at the end; then the index is held while what they found is read.
func (qr *Query) look(ctx context.Context, q recall.Query, s *sight) (recall.Result, error) {
	if s == nil {
		return qr.c.Engine.Search(ctx, q)
	}
	plain := q
	plain.Models = recall.Models{}
	for {
		out, err := qr.c.Engine.Search(ctx, plain)
		switch {
		case err != nil:
			return out, err
		case len(s.open) > 0:
		case q.Models.Dense == nil && q.Models.Reranker == nil:
			return out, nil
		default:
			s.last = true
			return qr.c.Engine.Search(ctx, q)
		}
		for _, a := range s.open {
			if err := ctx.Err(); err != nil {
				return recall.Result{}, err
			}
			s.known[a.ID] = s.read(a)
		}
		s.open, s.most = s.open[:0], 4*s.most
	}
}

// firstSeen is how many documents are noted by a question's first search.
const firstSeen = 128

// mostSeen is of how many documents an app's question looks whether the app may know of
// them, where the index can't tell. What only others say is then as if nobody said it.
const mostSeen = 2000

// mostGone is after how many expired memories a search is content with what it has. They
// are erased within the hour.
const mostGone = 500

// finding is a search whose hits are being read.
type finding struct {
	qr     *Query
	r      *serve.SearchRequest
	q      *recall.Query
	choice *chooser
	res    *serve.SearchResult
	alone  []float64                 // by hit, how much of the question it covers on its own, 0 to 1
	past   map[memory.ID][]memory.ID // superseded memories of the utterances that are hits, by utterance
}

// add reads a hit of the index and adds it to the result. It adds nothing if the
// document was erased since, does not pass the filter, or is in the result already.
func (f *finding) add(tx *store.Tx, h recall.Hit) error {
	hit, ok, err := f.choice.load(tx, h)
	if err != nil {
		return err
	}
	if hit.Cold {
		if !f.choice.narrows() { // else it has turned cold since the index was asked
			f.res.Hits, f.res.Missing, f.alone = append(f.res.Hits, hit), f.res.Missing+1, append(f.alone, h.Alone)
		}
		return nil
	}
	if ok && hit.Memory != nil && hit.Memory.Expired(f.choice.now) {
		f.choice.gone[h.ID] = true
		return nil
	}
	if ok && hit.Memory != nil {
		hit, ok, err = f.memory(tx, h, hit)
	}
	if err != nil || !ok {
		return err
	}
	f.res.Hits, f.alone = append(f.res.Hits, hit), append(f.alone, h.Alone)
	if len(h.Past) > 0 && !f.q.Past {
		f.past[hit.ID] = h.Past
	}
	return nil
}

// A note is minor if it covers less of the question than noteAlone of what the best hit covers. Only
// its own words count, because what was typed before and after it may be about anything. The value
// was set by hand, on homes of a few typed lines.
const noteAlone = .4

// markTyped marks hits that the wearer typed as minor if they cover too little of the question on their own.
func (f *finding) markTyped() {
	if len(f.alone) == 0 {
		return
	}
	least := noteAlone * slices.Max(f.alone)
	for i, alone := range f.alone {
		if h := &f.res.Hits[i]; alone < least && f.qr.typed(h) {
			h.Minor = true
		}
	}
}

// typed reports whether the wearer typed what a hit says. If a program adds a talk line by line, the
// wearer's lines in it count as typed.
func (qr *Query) typed(h *serve.Hit) bool {
	return len(h.Evidence) > 0 && h.Evidence[0].Event.Device == serve.APIDevice && h.Evidence[0].Speaker == qr.c.Wearer
}

// memory completes a hit that is a memory. The memory of which a core line is a copy
// stands for that line. If the request asks for another time, the hit shows what was
// believed then.
func (f *finding) memory(tx *store.Tx, h recall.Hit, hit serve.Hit) (_ serve.Hit, ok bool, err error) {
	choice := f.choice
	if choice.then.isNow() && !choice.matches(f.qr, hit.Memory) {
		return hit, false, nil
	}
	if of, copied := consolidate.Copied(hit.Memory); copied && !slices.Contains(f.r.Types, memory.Core) {
		h.ID, h.Source = of, memory.ID{}
		if hit, ok, err = choice.load(tx, h); err != nil {
			return hit, false, err
		}
		if !ok || hit.Memory == nil || hit.Memory.State != memory.Active || hit.Memory.Expired(choice.now) || choice.narrows() && !choice.allows(f.qr, tx, of, recall.Memory) {
			return hit, false, nil
		}
	}
	if slices.ContainsFunc(f.res.Hits, func(o serve.Hit) bool { return o.ID == hit.ID }) {
		return hit, false, nil
	}
	was, err := choice.then.believed(tx, hit.Memory)
	if err != nil || was == nil {
		return hit, false, err
	}
	hit.Memory, hit.Text, hit.Evidence = was, was.Text, was.Evidence
	if hit.Memory.Categories == nil && !choice.bare {
		hit.Memory.Categories = f.qr.c.Sorter.Of(hit.Memory)
	}
	return hit, true, nil
}

// addReplacing ranks hits of which the memories are superseded below those that
// replace them, which it adds.
func (f *finding) addReplacing(tx *store.Tx, k int) error {
	if len(f.past) == 0 {
		return nil
	}
	if err := saidAgain(tx, f.res.Hits, f.past); err != nil {
		return err
	}
	bring := func(m *memory.Memory, score float64) (hit serve.Hit, ok bool, err error) {
		if f.r.Only == serve.OnlyUtterances || len(f.r.Types) > 0 && !slices.Contains(f.r.Types, m.Type) || f.choice.narrows() && !f.choice.allows(f.qr, tx, m.ID, recall.Memory) {
			return hit, false, nil
		}
		hit, ok, err = f.choice.load(tx, recall.Hit{ID: m.ID, Kind: recall.Memory, At: m.When(), Score: score})
		if ok = ok && !m.Expired(f.choice.now); ok {
			hit.Memory.Categories = f.qr.c.Sorter.Of(hit.Memory)
		}
		return hit, ok, err
	}
	var err error
	f.res.Hits, err = demote(tx, f.res.Hits, f.past, k, f.r.Sees, bring)
	return err
}

// load reads the document of a hit. If it was erased since the index was asked, ok
// is false.
func (c *chooser) load(tx *store.Tx, h recall.Hit) (hit serve.Hit, ok bool, err error) {
	hit = serve.Hit{ID: h.ID, At: h.At, Score: h.Score, Minor: h.Minor, Parts: make(map[string]float64, len(h.Parts))}
	for _, p := range h.Parts {
		hit.Parts[p.Name] = p.Value
	}
	switch h.Kind {
	case recall.Utterance:
		u, err := c.line(tx, h.ID)
		if errors.Is(err, memory.ErrNotFound) {
			return hit, false, nil
		}
		if err != nil {
			return hit, false, err
		}
		hit.Text, hit.Utterance = u.Text, u
		hit.Evidence = []memory.Evidence{{Event: u.Event, Utterance: u.ID, Speaker: u.Speaker, At: u.At, Excerpt: memory.Excerpt(u.Text)}}
	case recall.Memory:
		if id, is, err := coldHit(tx, &h); err != nil || is {
			s, _, serr := tx.Stub(id)
			m := stubOf(s)
			hit.ID, hit.Memory, hit.Cold = id, &m, true
			return hit, false, errors.Join(err, serr)
		}
		w, err := c.whole(tx, h.ID)
		if errors.Is(err, memory.ErrNotFound) || err == nil && w.memory.State == memory.Erased {
			return hit, false, nil
		}
		if err != nil {
			return hit, false, err
		}
		m, chunk := w.memory, w.chunk
		for i := 0; i < len(h.Also) && chunk == nil; i++ { // it was found by its title: show the best of its parts
			chunk = engine.ChunkOf(m, h.Also[i])
		}
		hit.ID, hit.Text, hit.Memory, hit.Evidence, hit.Chunk = m.ID, m.Text, m, m.Evidence, chunk
		u, err := c.line(tx, h.Source)
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return hit, false, err
		}
		if err == nil {
			hit.Said = u.Text
		}
	}
	return hit, true, nil
}
