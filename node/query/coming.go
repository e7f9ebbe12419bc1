package query

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// soon is how far ahead a context looks if nobody gave a topic: today and tomorrow.
const soon = 48 * time.Hour

// planned are the types of events that somebody intends to do. Any other event of today may have
// happened already.
var planned = []string{"appointment", "plan", "promise"}

// longest is how long ago the start of a trip may be for it to be found while it goes on.
const longest = 14 * 24 * time.Hour

// coming returns what the wearer plans to do, or what happens, soon: the next first, and at most as
// many as a block has of a type. It leaves out what is over, what was taken back, and what the
// asker may not see.
func (qr *Query) coming(ctx context.Context, r *serve.ContextRequest) (list []*memory.Memory, err error) {
	now := qr.askedAt(r.At)
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		var ids []memory.ID
		from, to := now.Add(-longest).UnixMilli(), now.Add(soon+time.Hour).UnixMilli() // the local time of Begins may be an hour different
		err := qr.overview.look(ctx, tx, func() error {
			for l := range qr.overview.active(memory.Episodic) {
				if l.started >= from && l.started < to {
					ids = append(ids, l.id)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		list, err = store.Collect(tx.MemoriesOf(ids))
		return err
	})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(m *memory.Memory) bool {
		return m.State != memory.Active || m.Negates || m.Expired(qr.c.Now()) || !isComing(m, now) || !qr.chosen(r, m)
	})
	sorting.Sort(list, func(a, b *memory.Memory) int {
		at, _ := a.Begins(now.Location())
		other, _ := b.Begins(now.Location())
		return cmp.Or(at.Compare(other), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return list[:min(len(list), retrieve.PerType)], nil
}

// isComing reports whether the event of a memory begins soon, or goes on now.
func isComing(m *memory.Memory, now time.Time) bool {
	f := m.Fields.Episodic
	if f == nil || f.Started.IsZero() {
		return false
	}
	at, over := lasts(m, now.Location())
	return at.Before(now.Add(soon)) && now.Before(over)
}

// lasts returns when the event of a memory begins and when it is over. A plan for a day goes on
// until that day is over; an event of a day may have happened already.
func lasts(m *memory.Memory, zone *time.Location) (at, over time.Time) {
	f := m.Fields.Episodic
	at, clock := m.Begins(zone)
	switch {
	case !f.Ended.IsZero():
		return at, f.Ended.Add(at.Sub(f.Started))
	case !clock && slices.Contains(planned, f.EventType):
		return at, at.AddDate(0, 0, 1)
	}
	return at, at
}

// chosen reports whether a memory may be in the requested block. What is known of other users is in
// no block, unless the request names one.
func (qr *Query) chosen(r *serve.ContextRequest, m *memory.Memory) bool {
	if m.Owner.User != memory.WearerUser && r.Filters.IsZero() && r.Sees.IsZero() {
		return false
	}
	return (r.Agent == "" || m.Owner.Agent == r.Agent) && (r.Run == "" || m.Owner.Run == r.Run) && r.Filters.Match(&filter.Item{Memory: m, Categories: qr.categories(m)})
}
