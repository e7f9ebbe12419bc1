package query

import (
	"context"
	"errors"
	"slices"
	"time"

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
			qr.uses.note(m.ID, time.Now())
		}
	}
	qr.c.Served(time.Now(), texts...)
	return res, nil
}

// Find is Search, but its hits do not count as given out or as used.
func (qr *Query) Find(ctx context.Context, r serve.SearchRequest) (res serve.SearchResult, err error) {
	choice, err := chooserOf(&r)
	if err != nil {
		return res, err
	}
	return qr.find(ctx, r, choice)
}

// find is Find with a chooser that searches of one request share.
func (qr *Query) find(ctx context.Context, r serve.SearchRequest, choice *chooser) (res serve.SearchResult, err error) {
	ctx, work := span.Start(ctx, "recall")
	defer func() {
		work.Count("locket.hits", len(res.Hits))
		work.End(err)
	}()
	k := r.K
	if k == 0 {
		k = defaultHits
	}
	now := time.Now()
	switch {
	case !r.At.IsZero():
		now = r.At
	case !r.AsOf.IsZero():
		now = r.AsOf
	}
	q := recall.Query{Text: r.Query, Now: now, Zone: qr.c.Zone.String(), Wearer: qr.c.Wearer, K: k, Types: r.Types, From: r.Since, To: r.Until,
		Past: r.History || !r.AsOf.IsZero() || !r.KnownAt.IsZero()}
	switch r.Only {
	case "memories":
		q.Kinds = []recall.Kind{recall.Memory}
	case "utterances":
		q.Kinds = []recall.Kind{recall.Utterance}
	}
	res.Hits = []serve.Hit{}
	// Each of these has its own transaction. With one for the whole search, a slow
	// model would keep the store from closing.
	if choice.narrows() {
		cold := 0
		err := qr.c.Engine.View(ctx, func(tx *store.Tx) (err error) { cold, err = tx.ColdCount(); return err })
		if err != nil {
			return res, err
		}
		q.Allow = func(a recall.About) (ok bool) {
			switch v := choice.glance(a); {
			case v == filter.No:
				return false
			case v == filter.Yes && cold == 0: // nobody chooses by a cold one, and the index does not know which are
				return true
			}
			err := qr.c.Engine.View(ctx, func(tx *store.Tx) error { ok = choice.allows(qr, tx, a.ID, a.Kind); return nil })
			return err == nil && ok
		}
	}
	q.Holds = func(id memory.ID, p recall.Phrase) (ok bool) {
		err := qr.c.Engine.View(ctx, func(tx *store.Tx) error { ok = holds(tx, id, p); return nil })
		return err == nil && ok
	}
	q.Doubts = hearsay(func(fn func(*store.Tx) error) error { return qr.c.Engine.View(ctx, fn) }, r.Query)
	q.Models = qr.c.Models
	found, err := qr.c.Engine.Search(ctx, q)
	if err = errors.Join(err, choice.err, ctx.Err()); err != nil {
		return res, err
	}
	if err := qr.fetchHits(ctx, found.Hits); err != nil {
		return res, err
	}
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		res.Confidence, res.Known = found.Confidence, len(found.Hits) > 0 && found.Confidence >= recall.Unsure
		res.Shape, res.Unquoted = string(found.Shape), found.Unquoted
		for _, s := range found.Skipped {
			res.Skipped = append(res.Skipped, serve.SkippedPart{Part: s.Part, Reason: string(s.Reason)})
		}
		past := map[memory.ID][]memory.ID{}
		for _, h := range found.Hits {
			if h.Score < r.Threshold {
				break
			}
			hit, ok, err := choice.load(tx, h)
			if err != nil {
				return err
			}
			if hit.Cold {
				if choice.narrows() { // it has turned cold since
					continue
				}
				res.Hits, res.Missing = append(res.Hits, hit), res.Missing+1
				continue
			}
			if ok {
				if hit.Memory != nil {
					if choice.then.isNow() && !choice.matches(qr, hit.Memory) {
						continue
					}
					if of, copied := consolidate.Copied(hit.Memory); copied && !slices.Contains(r.Types, memory.Core) { // what it was made of stands for it
						h.ID, h.Source = of, memory.ID{}
						if hit, ok, err = choice.load(tx, h); err != nil {
							return err
						}
						if !ok || hit.Memory == nil || hit.Memory.State != memory.Active || choice.narrows() && !choice.allows(qr, tx, of, recall.Memory) {
							continue
						}
					}
					if slices.ContainsFunc(res.Hits, func(o serve.Hit) bool { return o.ID == hit.ID }) {
						continue
					}
					was, err := choice.then.believed(tx, hit.Memory)
					if err != nil {
						return err
					}
					if was == nil {
						continue
					}
					hit.Memory, hit.Text, hit.Evidence = was, was.Text, was.Evidence
					if hit.Memory.Categories == nil && !choice.bare {
						hit.Memory.Categories = qr.c.Sorter.Of(hit.Memory)
					}
				}
				res.Hits = append(res.Hits, hit)
				if len(h.Past) > 0 && !q.Past {
					past[hit.ID] = h.Past
				}
			}
		}
		if len(past) == 0 {
			return nil
		}
		if err := saidAgain(tx, res.Hits, past); err != nil {
			return err
		}
		bring := func(m *memory.Memory, score float64) (hit serve.Hit, ok bool, err error) {
			if r.Only == serve.OnlyUtterances || len(r.Types) > 0 && !slices.Contains(r.Types, m.Type) || choice.narrows() && !choice.allows(qr, tx, m.ID, recall.Memory) {
				return hit, false, nil
			}
			hit, ok, err = choice.load(tx, recall.Hit{ID: m.ID, Kind: recall.Memory, At: m.When(), Score: score})
			if ok {
				hit.Memory.Categories = qr.c.Sorter.Of(hit.Memory)
			}
			return hit, ok, err
		}
		res.Hits, err = demote(tx, res.Hits, past, k, r.Sees, bring)
		return err
	})
	if err == nil {
		err = qr.addGiven(ctx, &r, q, choice, &res)
	}
	if err == nil {
		err = qr.addWhereabouts(ctx, &r, choice, k, &res)
	}
	if err != nil {
		return serve.SearchResult{}, err
	}
	ownFirst(r.Query, res.Hits)
	return res, nil
}

// holds reports whether the text of an utterance or memory holds a phrase.
func holds(tx *store.Tx, id memory.ID, p recall.Phrase) bool {
	if u, err := tx.Utterance(id); err == nil {
		return p.In(u.Text)
	}
	m, err := engine.Live(tx, id)
	return err == nil && p.In(m.Text)
}

// load reads the document of a hit. If it was erased since the index was asked, ok
// is false.
func (c *chooser) load(tx *store.Tx, h recall.Hit) (hit serve.Hit, ok bool, err error) {
	hit = serve.Hit{ID: h.ID, At: h.At, Score: h.Score, Parts: make(map[string]float64, len(h.Parts))}
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
