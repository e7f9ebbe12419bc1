package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// forking is a relay that claims to have another delta at every place to which one is sent.
type forking struct {
	replica.Remote
	asked int
	lies  bool
}

func (f *forking) Append(ctx context.Context, d *envelope.Delta) error {
	if !f.lies {
		return f.Remote.Append(ctx, d)
	}
	if f.asked++; f.asked > 50 {
		return errors.New("asked without end")
	}
	return replica.ErrFork
}

// A relay that claims that every place is taken ends the round, and nothing is
// lost.
func TestRelayClaimsEveryPlaceIsTaken(t *testing.T) {
	a, b := pair(t)
	f := &forking{lies: true}
	a.close()
	a.remote = func(r replica.Remote) replica.Remote { f.Remote = r; return f }
	a.open()
	a.say(fact(1, "By a."))
	if err := a.Sync(t.Context()); !errors.Is(err, replica.ErrFork) {
		t.Fatalf("after %d times: %v", f.asked, err)
	}
	f.lies = false
	a.sync()
	f.lies = true
	a.erase(1) // its announcement is removed, too
	if err := a.Sync(t.Context()); !errors.Is(err, replica.ErrFork) {
		t.Fatalf("after %d times: %v", f.asked, err)
	}
	f.lies = false
	a.sync()
	b.sync()
	if m := b.memory(memory.ID{1}); m == nil || m.State != memory.Erased {
		t.Errorf("what was sent is not there: %+v", m)
	}
}
