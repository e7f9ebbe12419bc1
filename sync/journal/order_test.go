package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

var errDown = errors.New("the relay takes nothing now")

// readOnly is a relay that takes no deltas while it is down.
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

// A body is removed only after its other content was sent to the relay again.
func TestBodyStaysUntilTheRestIsSentAgain(t *testing.T) {
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
	if f, err := a.journal().Removals(t.Context()); err != nil || len(f.Bodies) != 0 {
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

// Content that was sealed, and erased before it was sent, is removed from the
// relay, too.
func TestErasedAfterSealing(t *testing.T) {
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

// twoTongued is a relay that takes a delta, and claims once that another one is in its place.
type twoTongued struct {
	replica.Remote
	lied *bool
}

func (r twoTongued) Append(ctx context.Context, d *envelope.Delta) error {
	err := r.Remote.Append(ctx, d)
	if err == nil && !*r.lied {
		*r.lied = true
		return replica.ErrFork
	}
	return err
}

// A delta that a relay took and denied is removed when its content is forgotten, whether it has
// come back by then or not.
func TestErasedAfterTheRelayDeniedTheDelta(t *testing.T) {
	for name, back := range map[string]bool{"once it came back": true, "before it came back": false} {
		t.Run(name, func(t *testing.T) {
			a := newMember(t, serveRelay(t), nil)
			a.close()
			lied := false
			a.remote = func(r replica.Remote) replica.Remote { return twoTongued{r, &lied} }
			a.open()
			a.say(fact(1, "It goes."))
			a.sync()
			if back {
				a.sync()
			}
			if n := a.saying(memory.ID{1}); !lied || n != 2 {
				t.Fatalf("at the relay it is said %d times, want where that was denied and in its place", n)
			}
			a.erase(1)
			a.sync()
			a.sync()
			if n := a.saying(memory.ID{1}); n != 0 {
				t.Errorf("at the relay it is said %d times", n)
			}
		})
	}
}

// said returns the content of the bodies at the relay.
func (m *member) said() (all [][]delta.Op) {
	m.t.Helper()
	ds, err := m.at.Placed(m.t.Context(), 0, 256)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range ds {
		d, err := envelope.ParseDelta(p.Delta)
		if err != nil {
			m.t.Fatal(err)
		}
		if d.Body == nil {
			continue
		}
		key, _ := m.ring.Epoch(m.ring.Space(), d.Header.Epoch)
		plain, err := seal.OpenBody(key, d.Body)
		if err != nil {
			m.t.Fatal(err)
		}
		ops, err := delta.Decode(&d.Header, plain)
		if err != nil {
			m.t.Fatal(err)
		}
		all = append(all, ops)
	}
	return all
}

// saying returns how many proposals of a memory are in bodies at the relay.
func (m *member) saying(id memory.ID) (n int) {
	m.t.Helper()
	for _, ops := range m.said() {
		for _, op := range ops {
			if a := op.Assertion; a != nil && a.Act == memory.ActPropose && a.Memory == id {
				n++
			}
		}
	}
	return n
}
