package replica_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// caseOf is a history of TestSyncModel as plain code: the shortest form of what it has found. The
// disks work, and the relay is honest, unless a test says otherwise.
type caseOf struct {
	*testing.T
	m       *maker
	relay   *modelRelay
	temp    string
	compact bool
	said    byte
}

func newCase(t *testing.T, compact bool) (c *caseOf, x, y, z *peerOf) {
	m, parties := modelParties(t)
	c = &caseOf{T: t, m: m, relay: newModelRelay(m.at.log, m.log), temp: t.TempDir(), compact: compact}
	c.relay.check = func(*envelope.Checkpoint) {}
	return c, newPeer(c.relay, parties[0].party, nil, nil), newPeer(c.relay, parties[1].party, nil, nil), newPeer(c.relay, parties[2].party, nil, nil)
}

func (c *caseOf) start(p *peerOf) {
	p.start(c, c.m, c.temp, c.compact)
	c.Cleanup(p.Replica.Close)
}

func (c *caseOf) says(p *peerOf) memory.ID {
	c.said++
	id := memory.ID{c.said, 1}
	p.say(delta.Op{Utterance: &memory.Utterance{ID: id, Space: p.party.space, Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(c.said)},
		At: time.UnixMilli(1_790_000_000_000).UTC(), Text: fmt.Sprintf("Line %d.", c.said)}})
	return id
}

func (c *caseOf) sync(ps ...*peerOf) {
	c.Helper()
	for _, p := range ps {
		if err := p.Sync(c.Context()); err != nil {
			c.Fatal(err)
		}
	}
}

// snapshots makes one member say lines, each in a delta, and make snapshots, which another member
// verifies.
func (c *caseOf) snapshots(lines int, author, verifier *peerOf) {
	c.Helper()
	for range lines {
		c.says(author)
		for _, p := range []*peerOf{author, verifier, author} {
			c.start(p) // so that it reads the list of snapshots
			c.sync(p)
		}
	}
}

// forgotten makes a member forget a line, and fails the test if the relay still has it afterwards.
func (c *caseOf) forgotten(id memory.ID, by *peerOf, others ...*peerOf) {
	c.Helper()
	if by.live[id] == nil {
		c.Fatal("the member that forgets does not have the line")
	}
	by.say(delta.Op{Forget: &delta.Forget{Utterances: []memory.ID{id}}})
	for range 5 {
		c.sync(append(others, by)...)
	}
	if err := c.relay.stillHas(c.m, map[memory.ID]bool{id: true}); err != nil {
		c.Error(err)
	}
	if len(by.outbox) > 0 {
		c.Errorf("%d wait", len(by.outbox))
	}
}

// scripted is a line on which a test decides what goes wrong.
type scripted struct {
	*badLine
	loses  bool // loses the answers to deltas that are sent
	hides  bool // hides the list of snapshots
	others int  // how often it returns another part of a snapshot
	deltas func([]replica.Placed) []replica.Placed
}

func (s *scripted) Append(ctx context.Context, d *envelope.Delta) error {
	if err := s.badLine.Append(ctx, d); err != nil || !s.loses {
		return err
	}
	return errLine
}

func (s *scripted) Checkpoints(ctx context.Context) ([]replica.Listed, error) {
	if s.hides {
		return nil, nil
	}
	return s.badLine.Checkpoints(ctx)
}

func (s *scripted) Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	if s.others > 0 {
		s.others--
		return replica.ErrBlob // the client checks the hash
	}
	return s.badLine.Download(ctx, id, f, limit)
}

func (s *scripted) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	out, err := s.badLine.Deltas(ctx, after)
	if s.deltas != nil {
		out = s.deltas(out)
	}
	return out, err
}

// A delta was sent, its answer was lost, and then a snapshot took its place.
func TestPendingDeltaInASnapshot(t *testing.T) {
	for name, strips := range map[string]func([]replica.Placed) []replica.Placed{"as it is": nil, "without its body": stripped} {
		t.Run(name, func(t *testing.T) {
			c, x, y, z := newCase(t, false)
			line := &scripted{badLine: x.line, loses: true}
			x.at = line
			c.start(x)
			id := c.says(x)
			if x.Sync(t.Context()) == nil {
				t.Fatal("no answer was lost")
			}
			c.snapshots(10, y, z)
			line.loses, line.deltas = false, strips
			c.start(x)
			c.sync(x)
			line.deltas = nil
			c.forgotten(id, x, y, z)
		})
	}
}

func stripped(out []replica.Placed) []replica.Placed {
	for i := range out {
		if d, err := envelope.ParseDelta(out[i].Delta); err == nil {
			out[i].Delta = d.WithoutBody().Bytes()
		}
	}
	return out
}

// A delta was sent and its answer was lost, the relay showed it, the answer was lost again, and then a
// snapshot took its place.
func TestPendingDeltaShownThenInASnapshot(t *testing.T) {
	c, x, y, z := newCase(t, false)
	line := &scripted{badLine: x.line, loses: true}
	x.at = line
	c.start(x)
	id := c.says(x)
	for range 2 {
		_ = x.Sync(t.Context())
	}
	c.snapshots(10, y, z)
	line.loses = false
	c.start(x)
	c.sync(x)
	c.forgotten(id, x, y, z)
}

// A backup was restored from the time between a delta and its answer. The relay shows the delta,
// and then others.
func TestBackupWithAPendingDelta(t *testing.T) {
	c, x, y, z := newCase(t, false)
	line := &scripted{badLine: x.line, loses: true}
	x.at = line
	c.start(x)
	id := c.says(x)
	if x.Sync(t.Context()) == nil {
		t.Fatal("no answer was lost")
	}
	backup := x.memJournal.copied()
	line.loses = false
	c.says(x)
	c.start(y)
	c.start(z)
	c.sync(x)
	x.memJournal = backup
	c.start(x)
	c.sync(x)
	c.forgotten(id, x, y, z)
}

// A backup was restored, and the relay did not show what the device had sent since, but a snapshot
// that contains it.
func TestOwnDeltasThatAreHidden(t *testing.T) {
	for name, lie := range map[string]func([]replica.Placed) []replica.Placed{
		"none shown":   func([]replica.Placed) []replica.Placed { return nil },
		"one left out": func(out []replica.Placed) []replica.Placed { return out[min(1, len(out)):] },
	} {
		t.Run(name, func(t *testing.T) {
			c, x, y, z := newCase(t, false)
			line := &scripted{badLine: x.line}
			x.at = line
			c.start(x)
			c.sync(x)
			backup := x.memJournal.copied()
			id := c.says(x)
			c.sync(x)
			c.snapshots(10, y, z)
			x.memJournal, line.deltas = backup, lie
			c.start(x)
			_ = x.Sync(t.Context())
			line.deltas = nil
			for range 3 {
				_ = x.Sync(t.Context())
			}
			c.forgotten(id, x, y, z)
		})
	}
}

// A member that joined late was not shown the snapshot with the bodies that the relay dropped, and
// nobody says anything afterwards.
func TestSnapshotBehindTheCursor(t *testing.T) {
	c, x, y, z := newCase(t, true)
	c.snapshots(6, x, y)
	if !slices.Contains(c.relay.bare, true) {
		t.Fatal("nothing is compacted")
	}
	line := &scripted{badLine: z.line, hides: true}
	z.at, z.every = line, 0
	c.start(z)
	c.sync(z)
	line.hides = false
	for range 10 {
		c.sync(x, y, z)
	}
	if !reflect.DeepEqual(z.items(), x.items()) {
		t.Errorf("it has %d of %d lines", len(z.live), len(x.live))
	}
}

// A delta beyond the cursor came without its body, the relay shows a snapshot from between, and
// everything is read again. The device crashed.
func TestBodyMissesBeyondTheCursor(t *testing.T) {
	c, x, y, z := newCase(t, false)
	c.start(y)
	c.says(y)
	c.sync(y)
	c.snapshots(5, x, y)
	shown := 0
	line := &scripted{badLine: z.line}
	z.at = line
	line.deltas = func(out []replica.Placed) []replica.Placed {
		for i := range out {
			switch {
			case out[i].Cursor == 1 && shown < 4: // twice in the first round, once in the second, which does not read everything again, and once in the third
				shown++
				out[i].Delta = bytes.Clone(out[i].Delta)
				out[i].Delta[len(out[i].Delta)-1] ^= 1
			case out[i].Cursor == 6:
				stripped(out[i : i+1])
			}
		}
		return out
	}
	c.start(z)
	for range 3 {
		_ = z.Sync(t.Context())
	}
	line.deltas = nil
	for range 10 {
		_ = z.Sync(t.Context())
	}
	if !reflect.DeepEqual(z.items(), x.items()) {
		t.Errorf("it has %d of %d lines", len(z.live), len(x.live))
	}
}

// The relay returns another part of a snapshot than its author named, once to the member that
// verifies it and once to the one that takes it.
func TestWrongSnapshotPart(t *testing.T) {
	c, x, y, z := newCase(t, true)
	for _, p := range []*peerOf{x, y, z} {
		p.at = &scripted{badLine: p.line, others: 1}
	}
	c.snapshots(4, x, y)
	for _, p := range []*peerOf{x, y} {
		c.start(p)
		c.sync(p)
	}
	for _, l := range c.relay.checkpoints {
		for _, b := range l.Votes {
			if v, err := envelope.ParseVote(b); err != nil || v.Verdict != envelope.Agree {
				t.Error("it objects", err)
			}
		}
	}
	if len(x.problems) == 0 || !slices.Contains(c.relay.bare, true) {
		t.Fatal("no part was another, or nothing is compacted")
	}
	c.start(z)
	for range 10 {
		_ = z.Sync(t.Context())
	}
	if !reflect.DeepEqual(z.items(), x.items()) {
		t.Errorf("it has %d of %d lines", len(z.live), len(x.live))
	}
}

// copied returns a backup.
func (j *memJournal) copied() *memJournal {
	out := *j
	out.live, out.erased, out.doubts = maps.Clone(j.live), maps.Clone(j.erased), maps.Clone(j.doubts)
	out.chains = [2]map[string]envelope.Link{maps.Clone(j.chains[0]), maps.Clone(j.chains[1])}
	out.entries, out.outbox, out.problems = slices.Clone(j.entries), slices.Clone(j.outbox), slices.Clone(j.problems)
	out.sent = nil
	for _, s := range j.sent {
		of := *s
		out.sent = append(out.sent, &of)
	}
	return &out
}
