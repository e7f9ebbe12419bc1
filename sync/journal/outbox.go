package journal

import (
	"cmp"
	"context"
	"errors"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

func (j *Journal) Outbox(ctx context.Context, limit int) (out []replica.Outgoing, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		var blobs []store.Outgoing
		for o, err := range tx.Outbox(0) {
			if err != nil {
				return err
			}
			if len(out) == limit {
				return nil
			}
			if !o.Blob.IsZero() {
				blobs = append(blobs, o)
				continue
			}
			op, err := j.op(tx, &o)
			if err != nil {
				return err
			}
			out = append(out, replica.Outgoing{Seq: o.Seq, Op: op})
		}
		if err := byUrgency(tx, blobs); err != nil {
			return err
		}
		for _, o := range blobs[:min(len(blobs), limit-len(out))] {
			out = append(out, replica.Outgoing{Seq: o.Seq, Blob: o.Blob, Owner: o.Owner, Size: o.Size})
		}
		return nil
	})
	return out, err
}

// byUrgency sorts blobs: those of pinned memories first, then small ones before
// large ones.
func byUrgency(tx *store.Tx, blobs []store.Outgoing) error {
	is := map[memory.ID]bool{}
	for _, o := range blobs {
		if _, known := is[o.Owner]; known {
			continue
		}
		var err error
		if is[o.Owner], err = pinned(tx, o.Owner); err != nil {
			return err
		}
	}
	sorting.Stable(blobs, func(a, b store.Outgoing) int {
		if p, q := is[a.Owner], is[b.Owner]; p != q {
			if p {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Size, b.Size)
	})
	return nil
}

// PinnedBlobs returns those of the sealed blobs that belong to pinned memories.
func (j *Journal) PinnedBlobs(ctx context.Context, sealed []envelope.Hash) (map[envelope.Hash]bool, error) {
	out := map[envelope.Hash]bool{}
	err := j.Store.View(ctx, func(tx *store.Tx) error {
		for _, id := range sealed {
			names, _, err := namesOf(tx, j.sealedNamesList(id))
			if err != nil {
				return err
			}
			for _, name := range names {
				var b delta.Blob
				if ok, err := tx.Meta(j.note("blob", name), &b); err != nil {
					return err
				} else if !ok || b.Sealed != id {
					continue
				}
				if is, err := pinned(tx, b.Memory); err != nil {
					return err
				} else if is {
					out[id] = true
					break
				}
			}
		}
		return nil
	})
	return out, err
}

// pinned reports whether a memory is here and pinned.
func pinned(tx *store.Tx, id memory.ID) (bool, error) {
	m, err := tx.Memory(id)
	var cold *memory.ColdError
	if errors.Is(err, memory.ErrNotFound) || errors.As(err, &cold) { // a pinned memory does not turn cold
		return false, nil
	}
	return err == nil && m.Pinned, err
}
