package health

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/replica"
)

// putBackBlobs checks that the relay has the photos and recordings that members
// have named. If the relay lost one that is here, it is sent again. If there are
// several relays, only the primary one is checked; the envelope store takes care
// of the others. On a metered connection nothing is checked, because blobs may
// still wait here.
func (h *Health) putBackBlobs(ctx context.Context, r *Repaired) error {
	if h.c.Metered != nil && h.c.Metered(ctx) || !h.c.Sync.HasRelay() {
		return nil
	}
	notes, err := h.c.Sync.Journal().NotedBlobs(ctx)
	if err != nil {
		return err
	}
	primary := h.c.Sync.Space()
	for _, b := range notes {
		name, err := memory.ParseID(b.Name)
		if err != nil {
			return err
		}
		sent, err := replica.PutBack(ctx, primary, b, func() (io.ReadCloser, error) {
			f, _, err := h.c.Sync.Journal().OpenBlob(ctx, name)
			return f, err
		}, h.c.Sync.Journal().RecordDoubt)
		item := RepairedItem{Place: "blob " + b.Name}
		switch {
		case errors.Is(err, replica.ErrNotFound):
			item.What, item.Lost = "the relay does not have it as it was sent, nor is it here: another device that has it sends it again with 'locket doctor --repair'", true
		case errors.Is(err, replica.ErrForbidden), errors.Is(err, replica.ErrBlob):
			item.What, item.Lost = fmt.Sprintf("the relay does not have it as it was sent, and it can't be put back: %v", err), true
		case err != nil:
			if ctx.Err() == nil {
				r.Relay = err.Error()
			}
			return ctx.Err()
		case !sent:
			continue
		default:
			item.What, item.Done = "the relay did not have it as it was sent", "sent again"
		}
		r.Findings = append(r.Findings, item)
	}
	return nil
}
