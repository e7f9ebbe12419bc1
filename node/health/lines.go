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

// lostLines returns the utterances that are in the index but have no record. They
// were on pages that were lost, and nothing else says what was on those.
func (h *Health) lostLines(ctx context.Context) (lost []memory.ID, err error) {
	there := map[memory.ID]bool{} // read all at once; one by one, each would load its page
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

// settleLines reports what was on lost pages, from what was in the index before
// anything was restored. It reports each utterance that is nowhere once, and
// removes it from the index.
func (h *Health) settleLines(ctx context.Context, got *repair.Result, before []memory.ID, r *Repaired) error {
	if len(before) == 0 { // the index was lost as well, so it is unknown what is missing
		return nil
	}
	left, err := h.lostLines(ctx)
	if err != nil {
		return err
	}
	for i := range got.Findings {
		if f := &got.Findings[i]; f.Lost && f.Record() != nil && f.Record().OfLines() {
			f.Lost, f.Done = false, fmt.Sprintf("%d lines were on lost pages, of which %d are here again", len(before), len(before)-len(left))
		}
	}
	if len(left) == 0 {
		return nil
	}
	r.Findings = append(r.Findings, RepairedItem{Place: "lines", What: fmt.Sprintf("%d lines of lost pages were found nowhere", len(left)), Lost: true})
	for some := range slices.Chunk(left, linesAtOnce) {
		if err := h.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.Unindex(some) }); err != nil {
			return err
		}
	}
	return nil
}

// linesAtOnce is how many lines are removed from the index in one transaction.
const linesAtOnce = 500
