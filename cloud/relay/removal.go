package relay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// spaceMember names a member in a space.
type spaceMember struct {
	space  memory.SpaceID
	member memory.MemberID
}

// refusedRemoval is a removal that was refused once.
type refusedRemoval struct {
	last  []envelope.Position // the positions that it accepted
	until time.Time
}

// removalDelay is how long the deltas of a member are refused after its removal was
// refused. Without this delay, a member that sends all the time could not be
// removed.
const removalDelay = 15 * time.Second

// refuseLeftOut returns [ErrConflict] if a removal leaves out a stored delta of the
// removed member. Other members may have read that delta, and would then count
// something that nobody else counts. The author of the removal should read it
// and sign another removal. If the author repeats the same removal, it is
// accepted: the author knows no more, or wants it so. Only this process
// remembers which removals were refused.
func (r *Relay) refuseLeftOut(ctx context.Context, e *envelope.Entry) error {
	p, now := spaceMember{e.Space, *e.Removed}, r.config.Now()
	r.mu.Lock()
	for other, a := range r.refusedRemovals {
		if now.After(a.until) {
			delete(r.refusedRemovals, other)
		}
	}
	before, again := r.refusedRemovals[p]
	r.mu.Unlock()
	if again && slices.Equal(before.last, e.Last) {
		return nil
	}
	chains, err := r.store.Chains(ctx, e.Space, *e.Removed)
	if err != nil {
		return err
	}
	for _, at := range chains {
		if !e.Accepts(at) {
			r.mu.Lock()
			r.refusedRemovals[p] = refusedRemoval{e.Last, now.Add(removalDelay)}
			r.mu.Unlock()
			return fmt.Errorf("log entry %d: %w: the removal of %s leaves out %s, which is here", e.N, ErrConflict, *e.Removed, at)
		}
	}
	return nil
}

// endRemovalDelay ends the delay for a removed member's deltas.
func (r *Relay) endRemovalDelay(space memory.SpaceID, member memory.MemberID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.refusedRemovals, spaceMember{space, member})
}

// isDelayed reports whether a member's deltas are refused for the moment.
func (r *Relay) isDelayed(space memory.SpaceID, member memory.MemberID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.refusedRemovals[spaceMember{space, member}]
	return ok && r.config.Now().Before(a.until)
}
