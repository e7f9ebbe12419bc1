package journal_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

var errFull = errors.New("nothing more is taken")

// noEntries is a relay that refuses log entries while it is told to.
type noEntries struct {
	replica.Remote
	full *bool
}

func (n noEntries) AppendLog(ctx context.Context, e *envelope.Entry) error {
	if *n.full {
		return errFull
	}
	return n.Remote.AppendLog(ctx, e)
}

// An epoch is too old, and the relay does not take its end, for example because
// the account is full. Everything else goes on, and erasing makes room.
func TestRelayRefusesANewEpoch(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "To be forgotten."))
	a.sync()
	full := true
	a.now = func() time.Time { return time.Now().Add(31 * 24 * time.Hour) }
	a.remote = func(r replica.Remote) replica.Remote { return noEntries{r, &full} }
	a.close()
	a.open()
	b.say(fact(2, "By the other."))
	b.sync()
	a.say(fact(3, "Said since."))
	a.erase(1)
	if err := a.Sync(t.Context()); !errors.Is(err, errFull) {
		t.Fatalf("the round does not say that the epoch could not end: %v", err)
	}
	if a.memory(memory.ID{2}) == nil {
		t.Error("what the other said did not come")
	}
	b.sync()
	if b.memory(memory.ID{3}) == nil {
		t.Error("what was said since did not go")
	}
	if n := a.saying(memory.ID{1}); n != 0 {
		t.Errorf("the relay still has %d bodies with what was erased", n)
	}
	full = false
	a.sync()
	if s, err := a.Status(t.Context()); err != nil || s.Epoch != 2 {
		t.Errorf("afterwards: %+v, %v", s, err)
	}
}
