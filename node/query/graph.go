package query

import (
	"context"
	"math"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Graph implements serve.Grapher.
func (rd Reader) Graph(ctx context.Context, q atlas.Query) (atlas.View, error) {
	qr, a, err := rd.atlas(ctx)
	if err != nil {
		return atlas.View{}, err
	}
	if err := a.Group(ctx); err != nil {
		return atlas.View{}, err
	}
	q.Now = qr.c.Now()
	return a.View(q), nil
}

// Entities implements serve.Grapher.
func (rd Reader) Entities(ctx context.Context) (out serve.EntitiesAnswer, err error) {
	_, a, err := rd.atlas(ctx)
	if err != nil {
		return out, err
	}
	like, err := rd.alike(ctx, a.Names())
	return serve.EntitiesAnswer{Decisions: a.Decisions(), Suggestions: a.Suggest(like)}, err
}

// atlas draws the atlas of the memories as they are now. If none of its sources
// has changed, it returns the last one.
func (rd Reader) atlas(ctx context.Context) (qr *Query, a *atlas.Atlas, err error) {
	var from uint64
	var ms []memory.Memory
	var said map[memory.ID]memory.Clock
	err = opened.View(ctx, rd.of, func(part *Query, tx *store.Tx) error {
		qr = part
		return qr.overview.look(ctx, tx, func() (err error) {
			if a = qr.overview.atlas; a != nil {
				return nil
			}
			from = qr.overview.names
			for _, l := range qr.overview.by {
				if l.named != nil {
					ms = append(ms, *l.named)
				}
			}
			said, err = atlas.ClocksOf(ms, tx.Assertions)
			return err
		})
	})
	if err != nil || a != nil {
		return qr, a, err
	}
	if a, err = atlas.Draw(ctx, ms, atlas.Options{Wearer: qr.c.Wearer, Said: said}); err != nil {
		return qr, nil, err
	}
	qr.overview.keepAtlas(ctx, from, a)
	return qr, a, nil
}

// alike returns a function that compares names with the embedding model. It is nil
// if there is no model, or the model can't be asked now.
func (rd Reader) alike(ctx context.Context, names []string) (func(a, b string) float64, error) {
	qr, release, err := rd.of.Use()
	if err != nil {
		return nil, err
	}
	defer release()
	if qr.c.Embed == nil {
		return nil, nil
	}
	by := map[string][]float32{}
	for len(names) > 0 {
		part := names[:min(len(names), llm.MaxInputs)]
		names = names[len(part):]
		list, err := qr.c.Embed(ctx, part)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			qr.c.Log.Warn("names are not compared by meaning", "error", err)
			return nil, nil
		}
		for i, name := range part {
			by[name] = list[i]
		}
	}
	return func(a, b string) float64 { return cosine(by[a], by[b]) }, nil
}

// cosine returns the cosine of two vectors. It is 0 if one is missing or zero.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
