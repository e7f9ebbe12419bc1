package dream

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// LookEvery is how often the node checks whether a dream is due.
const LookEvery = time.Hour

// A dream is due in a quiet moment once all three hold.
const (
	after         = 24 * time.Hour // since the last one
	sessionsSince = 5              // sessions of talk since then
	memoriesSince = 20             // new memories since then
)

// Due reports whether enough happened since the last dream. It counts the records
// themselves, so there are no counters that a crash could leave wrong. It stops
// counting once there is enough.
func Due(tx *store.Tx, last, now time.Time) (bool, error) {
	if !last.IsZero() && now.Sub(last) < after {
		return false, nil
	}
	added, sessions := 0, map[string]bool{}
	first := time.Time{}
	for m, err := range tx.Memories(store.Filter{Since: last, States: []memory.State{memory.Active}}) {
		if err != nil {
			return false, err
		}
		added++
		if at := m.When(); first.IsZero() || at.Before(first) {
			first = at
		}
		for _, e := range m.Evidence {
			u, err := tx.Utterance(e.Utterance)
			if err == nil {
				sessions[u.Session] = true
			}
		}
		if added >= memoriesSince && len(sessions) >= sessionsSince && (!last.IsZero() || now.Sub(first) >= after) {
			return true, nil
		}
	}
	return false, nil
}

// DreamIfDue continues a dream that was interrupted, and begins one if it is time by
// the clock of events.
func (ds *Dreams) DreamIfDue(ctx context.Context) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if err := ds.continueInterrupted(ctx); err != nil || ds.latest().IsZero() {
		return err
	}
	if err := ds.c.SaveUses(ctx); err != nil {
		return err
	}
	d, err := ds.dreaming(ctx)
	if err != nil {
		return err
	}
	now, due := ds.clock(), false
	err = ds.c.Engine.View(ctx, func(tx *store.Tx) error {
		due, err = Due(tx, d.Last, now)
		return err
	})
	if err != nil || !due {
		return err
	}
	plan, err := ds.plan(ctx, now)
	if err != nil {
		return err
	}
	_, err = ds.apply(ctx, plan.ID, nil)
	return err
}
