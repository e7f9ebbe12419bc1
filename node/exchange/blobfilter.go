package exchange

import (
	"context"
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// blobFilter is the journal of the wearer's space, except that it keeps
// recordings near a secret on this device, because a worker may be in the space
// now or later. The space still learns that the recording exists.
type blobFilter struct{ *journal.Journal }

// Outbox implements replica.Journal.
func (d blobFilter) Outbox(ctx context.Context, limit int) ([]replica.Outgoing, error) {
	out, err := d.Journal.Outbox(ctx, limit)
	if err != nil || !slices.ContainsFunc(out, func(o replica.Outgoing) bool { return !o.Blob.IsZero() }) {
		return out, err
	}
	err = d.Store.View(ctx, func(tx *store.Tx) error {
		for i := range out {
			if out[i].Blob.IsZero() {
				continue
			}
			held, err := heldBack(tx, out[i].Owner)
			if err != nil {
				return err
			}
			if held {
				out[i].Blob = memory.ID{}
			}
		}
		return nil
	})
	return out, err
}

func heldBack(tx *store.Tx, id memory.ID) (bool, error) {
	m, err := tx.Memory(id)
	if errors.Is(err, memory.ErrNotFound) {
		return true, nil // the owner was quarantined unread, or is gone: nobody else may get the blob
	}
	if err != nil {
		return false, err
	}
	return extract.IsHeldBack(tx, m)
}
