package meaning

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// write is a segment to write, or to delete if data is nil.
type write struct {
	name string
	data []byte
}

// Flush writes what changed. When it returns, no segment contains a document that
// was removed, or the vector of a text that changed since. Documents in the queue
// have no vector until their turn comes.
func (k *Keeper) Flush(ctx context.Context) error {
	k.flushing.Lock()
	defer k.flushing.Unlock()
	k.mu.Lock()
	waiting := slices.Collect(maps.Keys(k.queue))
	var m manifest
	for _, s := range []struct {
		sp *space
		to **kept
	}{{k.cur, &m.Current}, {k.next, &m.Next}} {
		if s.sp == nil || s.sp.set == nil {
			continue
		}
		s.sp.set.Remove(waiting...)
		*s.to = &kept{s.sp.name, s.sp.model, s.sp.set.Dim()}
		for _, c := range s.sp.set.Flush() {
			k.unsaved = append(k.unsaved, write{segmentName(s.sp.name, c.Number), c.Data})
		}
	}
	k.mu.Unlock()
	if len(k.unsaved) == 0 && m.same(k.saved) {
		return nil
	}
	for len(k.unsaved) > 0 {
		if err := k.save(ctx, k.unsaved[0]); err != nil {
			return fmt.Errorf("meaning: %w", err)
		}
		k.unsaved = k.unsaved[1:]
	}
	b, err := json.Marshal(m)
	if err == nil {
		err = k.cfg.Segments.Put(ctx, manifestName, b)
	}
	if err != nil {
		return fmt.Errorf("meaning: %w", err)
	}
	k.saved = m
	return k.sweep(ctx)
}

func (m manifest) same(o manifest) bool { return m.Current.same(o.Current) && m.Next.same(o.Next) }

func (k *kept) same(o *kept) bool { return k == o || k != nil && o != nil && *k == *o }

func (k *Keeper) save(ctx context.Context, w write) error {
	if w.data == nil {
		return k.cfg.Segments.Delete(ctx, w.name)
	}
	return k.cfg.Segments.Put(ctx, w.name, w.data)
}
