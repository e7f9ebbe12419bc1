package health

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/repair"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// Repaired is what a repair found, and what it did.
type Repaired struct {
	OK       bool           `json:"ok"`              // nothing is wrong any more, and nothing was lost
	Aside    string         `json:"aside,omitempty"` // folder with the files that were put aside
	Findings []RepairedItem `json:"findings"`
	// Relay says why the relay could not be asked. It is empty if it was asked;
	// otherwise the part that needs the relay follows with the next sync.
	Relay string `json:"relay,omitempty"`
}

// RepairedItem is one thing that was found damaged.
type RepairedItem struct {
	Place string `json:"place"`
	What  string `json:"what"`
	Done  string `json:"done,omitempty"`
	Lost  bool   `json:"lost,omitempty"` // it could not be restored
}

// lostBlobs is the record of blobs that a repair still has to get back.
const lostBlobs = "blobs lost"

// Finish fetches from the relay what was lost here. Memories whose assertions are
// lost are asserted again.
func (h *Health) Finish(ctx context.Context, got *repair.Result, r *Repaired) error {
	lines, err := h.lostLines(ctx)
	if err != nil {
		return err
	}
	blobs, err := h.blobsToFetch(ctx, got.Blobs)
	if err != nil {
		return err
	}
	fill, err := h.refill(ctx, r)
	if err != nil {
		return err
	}
	if h.c.Sync.Replica() != nil {
		// It does not matter here if a photo or recording still waits to be sent.
		if err := h.c.Sync.Round(ctx, h.c.Sync.Replica()); replica.Failed(err) {
			r.Relay = err.Error()
			return ctx.Err()
		}
		if err := h.reaches(ctx, r); err != nil {
			return err
		}
		if err := h.restorePacks(ctx, r); err != nil {
			return err
		}
		if err := h.reassertUnsent(ctx, got, fill, r); err != nil {
			return err
		}
		if err := h.putBackBlobs(ctx, r); err != nil {
			return err
		}
	}
	left := []memory.ID{}
	for _, id := range blobs {
		err := exchange.ErrNoRelay
		if h.c.Sync.Replica() != nil {
			err = h.c.Sync.Replica().FetchBlob(ctx, id)
		}
		if err != nil {
			left = append(left, id)
			r.Findings = append(r.Findings, RepairedItem{Place: "blob " + id.String(), What: fmt.Sprintf("its file is lost: %v", err), Lost: true})
			continue
		}
		r.Findings = append(r.Findings, RepairedItem{Place: "blob " + id.String(), What: "its file was lost", Done: "fetched from the relay"})
	}
	if err := h.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(lostBlobs, left) }); err != nil {
		return err
	}
	if err := h.markRestored(ctx, got); err != nil {
		return err
	}
	if err := h.settleLines(ctx, got, lines, r); err != nil {
		return err
	}
	return h.reassertOrphans(ctx, r)
}

func (h *Health) blobsToFetch(ctx context.Context, lost []memory.ID) (all []memory.ID, err error) {
	return all, h.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		if _, err := tx.Meta(lostBlobs, &all); err != nil {
			return err
		}
		all = append(all, lost...)
		if len(all) == 0 {
			return nil
		}
		return tx.PutMeta(lostBlobs, all)
	})
}

// reaches reports a relay that has less than it was known to have.
func (h *Health) reaches(ctx context.Context, r *Repaired) error {
	st, err := h.c.Sync.Replica().Status(ctx)
	if err != nil {
		return err
	}
	return h.c.Engine.View(ctx, func(tx *store.Tx) error {
		before, err := (&journal.Journal{Space: h.c.Ring.Space()}).PreviousCursor(tx)
		if err == nil && st.Cursor < before {
			r.Findings = append(r.Findings, RepairedItem{Place: "relay", Lost: true,
				What: fmt.Sprintf("it ends at delta %d, but had shown %d: it was put back to an older state, or withholds deltas", st.Cursor, before)})
		}
		return err
	})
}

// markRestored marks the findings whose record exists again.
func (h *Health) markRestored(ctx context.Context, got *repair.Result) error {
	return h.c.Engine.View(ctx, func(tx *store.Tx) error {
		for i := range got.Findings {
			f := &got.Findings[i]
			if !f.Lost || f.Record() == nil {
				continue
			}
			there, err := tx.Recovered(f.Record())
			if err != nil {
				return err
			}
			if there {
				f.Lost, f.Done = false, "taken from the relay again"
				if h.c.Sync.Replica() == nil {
					f.Done = "derived again"
				}
			}
		}
		return nil
	})
}

// reassertOrphans proposes memories without assertions again, in this device's name and as
// they are.
func (h *Health) reassertOrphans(ctx context.Context, r *Repaired) error {
	lock := h.c.Engine.AcquireWriter()
	defer lock.Release()
	var bare []memory.Memory
	err := h.c.Engine.View(ctx, func(tx *store.Tx) (err error) {
		bare, err = tx.WithoutAssertions()
		return err
	})
	if err != nil {
		return err
	}
	for i := range bare {
		m := &bare[i]
		if err := lock.Commit(ctx, func(tx *store.Tx) error { return h.c.Engine.AssertAs(tx, m.ID, &m.Candidate, m) }); err != nil {
			return fmt.Errorf("memory %s: %w", m.ID, err)
		}
		r.Findings = append(r.Findings, RepairedItem{Place: "memory " + m.ID.String(), What: "its deltas are lost, but the memories that were made from them are there",
			Done: "said again by this device"})
	}
	return nil
}
