package health

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/repair"
)

// lostLines are the utterances that the index finds and no record has: they lay on
// pages that were lost, of which nothing else says what was on them.
func (h *Health) lostLines(ctx context.Context) (lost []memory.ID, err error) {
	there := map[memory.ID]bool{} // all at once: one by one each would have its page opened
	err = h.c.Engine.View(ctx, func(tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			there[u.ID] = true
		}
		return nil
	})
	return slices.DeleteFunc(h.c.Index.Utterances(), func(id memory.ID) bool { return there[id] }), err
}

// settleLines says what became of pages that were lost, by what the index knew of
// them before anything was taken back. What is nowhere is named, once: the index
// finds it no more.
func (h *Health) settleLines(ctx context.Context, got *repair.Result, before []memory.ID, r *Repaired) error {
	if len(before) == 0 { // the index was lost as well, and nobody can say what is missing
		return nil
	}
	left, err := h.lostLines(ctx)
	if err != nil {
		return err
	}
	for i := range got.Findings {
		if f := &got.Findings[i]; f.Lost && f.Record() != nil && f.Record().OfLines() {
			f.Lost, f.Done = false, fmt.Sprintf("of %d lines of lost pages %d are here again", len(before), len(before)-len(left))
		}
	}
	if len(left) == 0 {
		return nil
	}
	r.Findings = append(r.Findings, RepairedItem{Place: "lines", What: fmt.Sprintf("%d of those on lost pages are nowhere any more", len(left)), Lost: true})
	for some := range slices.Chunk(left, linesAtOnce) {
		if err := h.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.Unindex(some) }); err != nil {
			return err
		}
	}
	return nil
}

// linesAtOnce is how many lines leave the index in a transaction.
const linesAtOnce = 500
