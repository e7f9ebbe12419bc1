package node

import (
	"context"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/extract"
)

// sweepEvery is how often retention is looked at.
const sweepEvery = time.Hour

// sweep lets go of what retention has ended: utterances by age and bytes,
// recordings and photos by theirs, and whatever expires. What a memory quotes
// of them stays with the memory. A pinned memory does not expire. now is the
// clock of events, not the wall's: a device that lay in a drawer for a month
// forgets nothing for that.
func (n *Node) sweep(ctx context.Context, o *opened, now time.Time) error {
	if now.IsZero() {
		return nil
	}
	var t store.Targets
	err := o.store.View(ctx, func(tx *store.Tx) error {
		if err := oldUtterances(tx, n.cfg.Retention.Utterance, now, &t); err != nil {
			return err
		}
		for _, k := range []struct {
			tag  string
			keep config.Keep
		}{{"recording", n.cfg.Retention.Audio}, {"photo", n.cfg.Retention.Photo}} {
			if err := oldResources(tx, k.tag, k.keep, now, &t); err != nil {
				return err
			}
		}
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if !m.Expires.IsZero() && m.Expires.Before(now) && !m.Pinned && !slices.Contains(t.Memories, m.ID) {
				t.Memories = append(t.Memories, m.ID)
			}
		}
		return nil
	})
	if err != nil || len(t.Memories)+len(t.Utterances) == 0 {
		return err
	}
	if _, err := o.forget(ctx, forgetOrder{Memories: t.Memories, Utterances: t.Utterances, Reason: "its time was over"}); err != nil {
		return err
	}
	if o.pump == nil || o.stop == nil {
		return o.forgotten(ctx)
	}
	if err := o.pump.purge(ctx, nil); err != nil { // this is its goroutine
		return err
	}
	return o.forgotten(ctx)
}

// earlier is the clock of events, or the wall's where that is behind: a time
// from the future must not end what is of today.
func earlier(event, wall time.Time) time.Time {
	if event.After(wall) {
		return wall
	}
	return event
}

// oldUtterances picks the oldest, until the rest is within its limits.
func oldUtterances(tx *store.Tx, keep config.Keep, now time.Time, t *store.Targets) error {
	type said struct {
		id   memory.ID
		at   time.Time
		size int64
	}
	var all []said
	var total int64
	for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
		if err != nil {
			return err
		}
		all = append(all, said{u.ID, u.At, int64(len(u.Text))})
		total += int64(len(u.Text))
	}
	for _, s := range all {
		if now.Sub(s.at) <= time.Duration(keep.Age) && total <= int64(keep.Bytes) {
			break
		}
		t.Utterances = append(t.Utterances, s.id)
		total -= s.size
	}
	return nil
}

// oldResources does the same for recordings or photos.
func oldResources(tx *store.Tx, tag string, keep config.Keep, now time.Time, t *store.Targets) error {
	var total int64
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) { // newest first
		if err != nil {
			return err
		}
		if f := m.Fields.Resource; !slices.Contains(m.Tags, tag) || m.Pinned || f == nil || f.Blob == "" {
			continue
		} else if total += blobSize(tx, f.Blob); total > int64(keep.Bytes) || now.Sub(extract.WhenOf(m)) > time.Duration(keep.Age) {
			t.Memories = append(t.Memories, m.ID)
		}
	}
	return nil
}
