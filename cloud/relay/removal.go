package relay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// place is a member in a space.
type place struct {
	space  memory.SpaceID
	member memory.MemberID
}

// asked is a removal that was sent back once.
type asked struct {
	last  []envelope.Position // what it accepted
	until time.Time
}

// askTime is how long the deltas of a member wait whose removal was sent back:
// one that sends without a pause could not be removed otherwise.
const askTime = 15 * time.Second

// askBack refuses a removal that leaves out something which was taken of the
// removed: others may have it by now, and would count what nobody else does. Its
// author reads that, and signs another. One who comes with no more knows no
// more, or does not want it: then it is taken. Which was sent back is remembered
// in this process alone.
func (r *Relay) askBack(ctx context.Context, e *envelope.Entry) error {
	p, now := place{e.Space, *e.Removed}, r.config.Now()
	r.mu.Lock()
	for other, a := range r.asked {
		if now.After(a.until) {
			delete(r.asked, other)
		}
	}
	before, again := r.asked[p]
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
			r.asked[p] = asked{e.Last, now.Add(askTime)}
			r.mu.Unlock()
			return fmt.Errorf("log entry %d: %w: the removal of %s leaves out %s, which is here", e.N, ErrConflict, *e.Removed, at)
		}
	}
	return nil
}

// removed has nobody wait any more.
func (r *Relay) removed(space memory.SpaceID, member memory.MemberID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, place{space, member})
}

// waits reports whether a member's deltas are not taken for the moment.
func (r *Relay) waits(space memory.SpaceID, member memory.MemberID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.asked[place{space, member}]
	return ok && r.config.Now().Before(a.until)
}
