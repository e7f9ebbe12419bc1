package query

import (
	"cmp"
	"context"
	"errors"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// GivenShares implements serve.Given.
func (rd Reader) GivenShares(ctx context.Context) ([]serve.GivenShare, error) {
	return opened.Do(rd.of, func(qr *Query) ([]serve.GivenShare, error) { return qr.c.Given.Shares(ctx) })
}

// GivenKey implements serve.Given.
func (rd Reader) GivenKey(context.Context) (serve.GivenKey, error) {
	return opened.Do(rd.of, func(qr *Query) (serve.GivenKey, error) { return qr.c.Given.Key() })
}

// OpenGiven implements serve.Given.
func (rd Reader) OpenGiven(ctx context.Context, r serve.OpenGivenRequest) (serve.GivenShare, error) {
	return opened.Do(rd.of, func(qr *Query) (serve.GivenShare, error) { return qr.c.Given.OpenShare(ctx, r.Link, r.From) })
}

// LeaveGiven implements serve.Given.
func (rd Reader) LeaveGiven(_ context.Context, id memory.SpaceID) error {
	qr, release, err := rd.of.Use()
	if err != nil {
		return err
	}
	defer release()
	return qr.c.Given.Leave(id)
}

// weak is the share of the best score below which a memory that others share is no hit.
const weak = 0.4

// addGiven adds hits from what others share. It drops hits of the wearer's own only
// beyond k. A share is asked only about the present, because nothing of its past was
// shared.
//
// The scores of two indexes can't be compared, so each shared hit is scaled by the
// confidence of its index relative to that of the wearer's own index. A score is never
// raised, and the amount by which it was lowered is one of its parts.
func (qr *Query) addGiven(ctx context.Context, r *serve.SearchRequest, q recall.Query, choice *chooser, res *serve.SearchResult) error {
	if qr.c.Given == nil || r.Only == serve.OnlyUtterances || r.History || !choice.then.isNow() {
		return nil
	}
	found, err := qr.c.Given.Search(ctx, q, func(m *memory.Memory) bool {
		return choice.filter.Match(&filter.Item{Memory: m, Categories: qr.categories(m)})
	})
	known := found.Confidence >= recall.Unsure
	if err != nil || len(found.Hits) == 0 || res.Known && !known {
		return err
	}
	scale := 1.0
	if res.Known && res.Confidence > found.Confidence {
		scale = found.Confidence / res.Confidence
	}
	least := max(r.Threshold, weak*found.Hits[0].Score*scale)
	for i := range found.Hits {
		h := found.Hits[i].Shown(scale)
		if h.Score < least {
			break
		}
		h.Memory.Categories = qr.c.Sorter.Of(h.Memory)
		res.Hits = append(res.Hits, h)
	}
	sorting.Stable(res.Hits, func(a, b serve.Hit) int { return cmp.Compare(b.Score, a.Score) })
	res.Hits = res.Hits[:min(len(res.Hits), q.K)]
	res.Known, res.Confidence = res.Known || known, max(res.Confidence, found.Confidence)
	if res.Shape == "" {
		res.Shape = string(found.Shape)
	}
	return nil
}

// givenMemory returns a memory that others share, by its complete id.
func (qr *Query) givenMemory(ctx context.Context, id memory.ID) (memory.Memory, bool, error) {
	m, err := qr.c.Given.Find(ctx, id.String())
	if errors.Is(err, memory.ErrNotFound) {
		return memory.Memory{}, false, nil
	}
	if err != nil {
		return memory.Memory{}, false, err
	}
	m.Categories = qr.c.Sorter.Of(&m.Memory)
	return m.Memory, true, nil
}

// resolveGiven is Resolve for an id that belongs to none of the wearer's own memories.
func (rd Reader) resolveGiven(ctx context.Context, text string) (memory.ID, error) {
	return opened.Do(rd.of, func(qr *Query) (memory.ID, error) {
		m, err := qr.c.Given.Find(ctx, text)
		return m.ID, err
	})
}
