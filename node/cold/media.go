package cold

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
)

// A photo or recording turns cold by itself. Its memory stays, and says what the photo shows.
// Nothing is packed, because the pack store already has the blob, sealed for every member; the note
// about its place opens it.

// stayAfter is how long a photo or recording stays here after it came from a wearable, or was
// fetched because somebody asked for it.
const stayAfter = 24 * time.Hour

// media are the photos and recordings of one memory.
type media struct {
	blobs []memory.ID
	item  tier.Item
}

// weighMedia returns the photos and recordings on this device by their owners, and their size.
func (k *Keeper) weighMedia(tx *store.Tx, uses map[memory.ID]Use) (all map[memory.ID]*media, total int64, err error) {
	all = map[memory.ID]*media{}
	for o, err := range tx.OwnedBlobs() {
		if err != nil {
			return nil, 0, err
		}
		total += o.Size
		m := all[o.Owner]
		if m == nil {
			m = &media{item: tier.Item{ID: o.Owner, Fixed: true}}
			all[o.Owner] = m
			rec, err := tx.Memory(o.Owner)
			if err == nil && rec.Type == memory.Resource {
				m.item = tier.ItemOf(rec)
				m.item.Used, m.item.Last = uses[o.Owner].Count, uses[o.Owner].Last
				// The node's reasons for a memory (such as its expiry) do not matter, because the
				// memory itself stays hot.
				m.item.Fixed = m.item.Fixed || slices.Contains(rec.Tags, memory.WaitingTag)
			}
		}
		m.blobs = append(m.blobs, o.ID)
		m.item.Bytes += o.Size
		m.item.Fixed = m.item.Fixed || o.Waits || k.c.Now().Sub(o.WrittenAt) < stayAfter
	}
	return all, total, nil
}

// coolMedia removes photos and recordings until they fit into what the memories leave of the
// budget, or until no more can be removed.
func (k *Keeper) coolMedia(ctx context.Context) (err error) {
	if k.c.EnsureStored == nil || k.c.Budget.Bytes == 0 {
		return nil
	}
	var all map[memory.ID]*media
	var total int64
	err = k.c.Store.View(ctx, func(tx *store.Tx) error {
		uses, err := k.c.Uses(tx)
		if err == nil {
			all, total, err = k.weighMedia(tx, uses)
		}
		return err
	})
	if err != nil {
		return err
	}
	k.count.Lock()
	memories := min(k.state.Bytes, k.c.Budget.Bytes/10*9) // memories above that have just turned cold
	k.state.Media, k.state.MediaBytes = 0, total
	for _, m := range all {
		k.state.Media += len(m.blobs)
	}
	k.count.Unlock()
	var items []tier.Item
	for _, m := range all {
		items = append(items, m.item)
	}
	for _, owner := range tier.Choose(items, tier.Budget{Bytes: max(1, k.c.Budget.Bytes-memories)}, k.c.Now()) {
		for _, blob := range all[owner].blobs {
			if err := errors.Join(ctx.Err(), k.coolBlob(ctx, blob)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *Keeper) coolBlob(ctx context.Context, blob memory.ID) error {
	if safe, err := k.c.EnsureStored(ctx, blob); err != nil || !safe {
		return err
	}
	if !k.cooling.TryLock() {
		return errHeld
	}
	defer k.cooling.Unlock()
	gone, size := false, int64(0)
	err := k.c.Store.UpdateInReserve(ctx, func(tx *store.Tx) (err error) {
		size = tx.BlobSize(blob.String())
		gone, err = tx.CoolBlob(blob)
		return err
	})
	if err == nil && gone {
		k.count.Lock()
		k.state.Media, k.state.MediaBytes = k.state.Media-1, k.state.MediaBytes-size
		k.count.Unlock()
	}
	return err
}
