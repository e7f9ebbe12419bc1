package journal_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

type relayLine = replica.Checkpoints

// breaking forwards calls to a relay's checkpoints over a line that breaks, either before the
// request arrives or before its answer does.
type breaking struct {
	relayLine
	putBefore, putAfter, dropAfter bool
}

var errLine = errors.New("the line broke")

func (b *breaking) PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error {
	if b.putBefore {
		return errLine
	}
	if err := b.relayLine.PutCheckpoint(ctx, c); err != nil || !b.putAfter {
		return err
	}
	return errLine
}

func (b *breaking) DropCheckpoint(ctx context.Context, hash envelope.Hash) error {
	if err := b.relayLine.DropCheckpoint(ctx, hash); err != nil || !b.dropAfter {
		return err
	}
	return errLine
}

// hasParts reports whether the manifest of a checkpoint is at the relay.
func (m *member) hasParts(c *envelope.Checkpoint) bool {
	m.t.Helper()
	_, _, err := m.at.HasBlob(m.t.Context(), remote.BlobID(c.Manifest))
	if err != nil && !errors.Is(err, remote.ErrNotFound) {
		m.t.Fatal(err)
	}
	return err == nil
}

// If the relay took a checkpoint but its answer was lost, the checkpoint's
// parts stay: bodies were dropped because of it, and the next checkpoint may
// never be finished.
func TestCheckpointWithLostAnswer(t *testing.T) {
	for name, newLife := range map[string]bool{"in the same life": false, "in a new life": true} {
		t.Run(name, func(t *testing.T) {
			a, b := lived(t)
			line := &breaking{relayLine: a.checkpointsAt(), putAfter: true}
			a.with(replica.Snapshots{Compact: true, Behind: 1, At: line})
			if err := a.Checkpoint(t.Context()); !errors.Is(err, errLine) {
				t.Fatal(err)
			}
			first := a.checkpoints()
			if len(first) != 1 {
				t.Fatalf("%d checkpoints", len(first))
			}
			line.putAfter, line.putBefore = false, true
			if newLife {
				a.close()
				a.open()
			}
			b.again() // this verifies the checkpoint and has the bodies dropped
			a.say(fact(60, "Said since."))
			a.sync()
			if err := a.Checkpoint(t.Context()); !errors.Is(err, errLine) {
				t.Fatal(err)
			}
			if !a.hasParts(first[0]) {
				t.Error("the parts of the only checkpoint are gone")
			}
			if n := a.bodies(); n != 1 {
				t.Errorf("%d bodies", n)
			}
			c := a.let(a.url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
			c.sync()
			if !slices.Equal(c.knows(), a.knows()) || len(c.knows()) < 15 {
				t.Errorf("a new device knows %q, not %q", c.knows(), a.knows())
			}
			if p := c.problems(); len(p) > 0 {
				t.Errorf("%q", p)
			}
		})
	}
}

// If the line breaks after the relay dropped a checkpoint, none of its parts
// stay, since they may hold what was forgotten.
func TestCheckpointDropInterrupted(t *testing.T) {
	a, b := lived(t)
	a.makeSnapshot()
	b.again()
	first := a.checkpoints()[0]
	line := &breaking{relayLine: b.checkpointsAt(), dropAfter: true}
	b.with(replica.Snapshots{Compact: true, Behind: 1, At: line})
	a.say(fact(60, "Said since."))
	a.sync()
	b.sync()
	a.makeSnapshot()
	b.close()
	b.open()
	if err := b.Sync(t.Context()); !errors.Is(err, errLine) { // this verifies the second checkpoint and drops the first
		t.Fatal(err)
	}
	if all := a.checkpoints(); len(all) != 1 || all[0].Hash() == first.Hash() {
		t.Fatalf("%v", all)
	}
	line.dropAfter = false
	b.again()
	if b.hasParts(first) {
		t.Error("parts are left of a checkpoint that went")
	}
	if last := a.checkpoints(); len(last) != 1 || !b.hasParts(last[0]) {
		t.Errorf("the new one: %v", last)
	}
}
