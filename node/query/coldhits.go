package query

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// stubOf returns what is known of a cold memory that can't be fetched now.
func stubOf(s store.Stub) memory.Memory {
	return memory.Memory{ID: s.ID, Candidate: memory.Candidate{Type: s.Type}, State: s.State, Learnt: s.Learnt, Cold: true}
}

// fetchHits brings back cold memories that a search found. If one can't be
// fetched, the search goes on without its text.
func (qr *Query) fetchHits(ctx context.Context, hits []recall.Hit) error {
	var ids []memory.ID
	err := qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		for i := range hits {
			id, is, err := coldHit(tx, &hits[i])
			if err != nil {
				return err
			}
			if is {
				ids = append(ids, id)
			}
		}
		return nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := qr.c.FetchCold(ctx, ids...); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, serve.ErrCold) {
			qr.c.Log.Warn("cold memories could not be fetched", "error", err)
		}
	}
	return nil
}

// coldHit returns the cold memory to which a hit belongs.
func coldHit(tx *store.Tx, h *recall.Hit) (id memory.ID, is bool, err error) {
	if h.Kind != recall.Memory {
		return id, false, nil
	}
	if _, ok, err := tx.Stub(h.ID); err != nil || ok {
		return h.ID, ok, err
	}
	if h.Source.IsZero() {
		return id, false, nil
	}
	_, ok, err := tx.Stub(h.Source) // the hit is a chunk: this is its resource
	return h.Source, ok, err
}
