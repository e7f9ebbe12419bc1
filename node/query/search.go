package query

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// defaultHits is how many hits a search returns if the request does not say.
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
	qr.c.OnServed(qr.c.Now(), texts...)
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

// find is Find with a chooser that the searches of one request share. It asks the index,
// fetches cold hits, and reads the hits' records. Each of these has its own transaction: if
// the whole search had a single one, a slow model would keep the store from closing.
func (qr *Query) find(ctx context.Context, r serve.SearchRequest, choice *chooser) (res serve.SearchResult, err error) {
	ctx, work := span.Start(ctx, "recall")
	defer func() {
		work.Count("locket.hits", len(res.Hits))
		work.End(err)
	}()
	r.Query, r.Own = recall.FoldQuestion(r.Query, r.Own)
	k := cmp.Or(r.K, defaultHits)
	read := qr.documents(ctx)
	q := qr.indexQuery(read, &r, k)
	if err := qr.resolveHandle(ctx, &r, choice, &q); err != nil {
		return res, err
	}
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
		q.IsShown = look.shows
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
		return qr.find(ctx, r, choice) // again without the expired memories: they took the places of others, and raised the confidence
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
	parkedFirst(r.Query, qr.c.Wearer, res.Hits)
	res.Known = res.Known && slices.ContainsFunc(res.Hits, func(h serve.Hit) bool { return !h.Minor })
	return res, nil
}

// indexQuery returns the query to the index for a request, without its filter.
func (qr *Query) indexQuery(read reader, r *serve.SearchRequest, k int) recall.Query {
	now := qr.c.Now()
	switch {
	case !r.At.IsZero():
		now = r.At
	case !r.AsOf.IsZero():
		now = r.AsOf
	}
	text := r.Query
	if r.Own == "" {
		text = withParked(text)
	}
	q := recall.Query{Text: text, Own: r.Own, Now: now, Zone: qr.c.Zone.String(), Wearer: qr.c.Wearer, K: k, Types: r.Types, From: r.Since, To: r.Until,
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
	q.Owner, q.TellsOfPerson, q.IsDoubtful, q.Counts = owner, read.any(tells), read.any(hearsay(r.Query), others, doubts), read.counts(own)
	return q
}

// filtering returns the two functions with which the index checks a document against the
// request's filter: glance uses only what the index knows, and read reads the document.
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
		case v == filter.Yes && cold == 0: // a filter never chooses a cold memory, and the index does not know which memories are cold
			return true, true
		}
		return false, false
	}
	return glance, func(a recall.About) (ok bool) {
		err := qr.c.Engine.View(ctx, func(tx *store.Tx) error { ok = choice.allows(qr, tx, a.ID, a.Kind); return nil })
		return err == nil && ok
	}, nil
}

// sight tells the index which documents the caller may know. Some have to be read to decide
// that: sight notes and refuses them at first, and they are read later while nobody holds the
// index. It refuses everything beyond mostSeen.
type sight struct {
	glance func(recall.About) (ok, sure bool)
	read   func(recall.About) bool
	known  map[memory.ID]bool
	open   []recall.About // noted, but not read yet
	most   int            // how many one search may note
	last   bool           // unknown documents are read at once
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

// look asks the index, and asks again after each round of reading what the caller may know.
// The models are asked once, at the end; then the index is held while the documents that they
// found are read.
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

// mostSeen is how many documents are read at most for an app's question, to see whether the
// app may know them, where the index can't tell. Documents that others said and that are
// beyond this limit are treated as if they did not exist.
const mostSeen = 2000

// mostGone is the number of expired memories after which a search is not repeated but returns
// what it has. They are erased within the hour.
const mostGone = 500

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
		w, err := c.memoryOf(tx, h.ID)
		if errors.Is(err, memory.ErrNotFound) || err == nil && w.memory.State == memory.Erased {
			return hit, false, nil
		}
		if err != nil {
			return hit, false, err
		}
		m, chunk := w.memory, w.chunk
		for i := 0; i < len(h.Also) && chunk == nil; i++ { // it was found by its title, so the best of its parts is shown
			chunk = engine.ChunkOf(m, h.Also[i])
		}
		hit.ID, hit.Text, hit.Memory, hit.Evidence, hit.Chunk = m.ID, m.Text, m, m.Quotes(), chunk
		if len(m.Evidence) > 0 && h.Source == m.Evidence[0].Utterance { // the index knows the first piece; the quoted one is shown
			h.Source = memory.ID{}
			if q := &hit.Evidence[0]; q.Excerpt != "" {
				h.Source = q.Utterance
			}
		}
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
