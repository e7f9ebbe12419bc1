package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

var errDown = errors.New("the relay takes nothing now")

// readOnly is a relay that takes no deltas for as long as it is down.
type readOnly struct {
	replica.Remote
	down *bool
}

func (r readOnly) Append(ctx context.Context, d *envelope.Delta) error {
	if *r.down {
		return errDown
	}
	return r.Remote.Append(ctx, d)
}

func (m *member) overReadOnly() (down *bool) {
	m.t.Helper()
	m.close()
	down = new(bool)
	m.remote = func(r replica.Remote) replica.Remote { return readOnly{r, down} }
	m.open()
	return down
}

// A body goes only once what else was in it has gone to the relay again.
func TestBodyStaysUntilTheRestIsSent(t *testing.T) {
	a, b := pair(t)
	down := a.overReadOnly()
	a.say(fact(1, "It goes."), fact(2, "It stays."))
	a.sync()
	b.sync()
	b.erase(1)
	b.sync()
	*down = true
	if err := a.Sync(t.Context()); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	if f, err := a.journal().Forgotten(t.Context()); err != nil || len(f.Bodies) != 0 {
		t.Errorf("to be taken away before the rest was sent: %+v, %v", f, err)
	}
	*down = false
	a.sync()
	late := a.let(a.url, envelope.Writer, nil)
	late.sync()
	if m := late.memory(memory.ID{2}); m == nil || m.Text != "It stays." {
		t.Errorf("what was beside it: %+v", m)
	}
	if m := late.memory(memory.ID{1}); m != nil && m.Text != "" {
		t.Errorf("what was erased: %+v", m)
	}
}

// What was sealed, and erased before it was sent, goes from the relay as well.
func TestErasedBeforeItWasSent(t *testing.T) {
	a, _ := pair(t)
	down := a.overReadOnly()
	*down = true
	a.say(fact(1, "It goes."))
	if err := a.Sync(t.Context()); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	a.erase(1)
	*down = false
	a.sync()
	a.sync()
	ds, err := a.at.Placed(t.Context(), 0, 256)
	if err != nil || len(ds) == 0 {
		t.Fatal(len(ds), err)
	}
	first, err := envelope.ParseDelta(ds[0].Delta)
	if err != nil || first.Body != nil {
		t.Errorf("its body is still there, %v", err)
	}
}
