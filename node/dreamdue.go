package node

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// A dream is due in a quiet moment once all three hold.
const (
	dreamAfter    = 24 * time.Hour // since the last one
	dreamSessions = 5              // of talk since
	dreamMemories = 20             // new since
	dreamLook     = time.Hour      // how often it is looked
)

// dreamDue counts what came since the last dream, in the records themselves:
// there are no counters that a crash could put wrong. It stops counting where
// there is enough.
func dreamDue(tx *store.Tx, last, now time.Time) (bool, error) {
	if !last.IsZero() && now.Sub(last) < dreamAfter {
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
		if added >= dreamMemories && len(sessions) >= dreamSessions && (!last.IsZero() || now.Sub(first) >= dreamAfter) {
			return true, nil
		}
	}
	return false, nil
}

// dreamIfDue goes on with what broke off, and dreams where it is time.
func (n *Node) dreamIfDue(ctx context.Context, o *opened, now time.Time) error {
	o.dreams.Lock()
	defer o.dreams.Unlock()
	if err := o.goOn(ctx, n); err != nil || now.IsZero() {
		return err
	}
	if err := o.saveUses(ctx); err != nil {
		return err
	}
	d, err := o.dreaming(ctx)
	if err != nil {
		return err
	}
	due := false
	err = o.store.View(ctx, func(tx *store.Tx) error {
		due, err = dreamDue(tx, d.Last, now)
		return err
	})
	if err != nil || !due {
		return err
	}
	plan, err := n.planDream(ctx, o, now)
	if err != nil {
		return err
	}
	_, err = n.applyDream(ctx, o, plan.ID)
	return err
}
