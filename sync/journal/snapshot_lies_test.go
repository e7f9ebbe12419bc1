package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// liar is an archive that returns other items than it has.
type liar struct {
	replica.Archive
	each func(i *delta.Item) []*delta.Item
}

func (l liar) EachLive(ctx context.Context, f func(*delta.Item) error) error {
	return l.Archive.EachLive(ctx, func(i *delta.Item) error {
		for _, i := range l.each(i) {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// If a snapshot omits, adds, changes or erases something, the other devices
// report it and name its author. No body is dropped because of it, and no new
// device takes it.
func TestLyingSnapshots(t *testing.T) {
	is := func(i *delta.Item, n byte) bool {
		return i.Op.Assertion != nil && i.Op.Assertion.Memory == memory.ID{n}
	}
	for name, c := range map[string]struct {
		each func(i *delta.Item) []*delta.Item
		says string
	}{
		"omits": {func(i *delta.Item) []*delta.Item {
			if is(i, 7) {
				return nil
			}
			return []*delta.Item{i}
		}, "it omits assertion"},
		"adds": {func(i *delta.Item) []*delta.Item {
			if !is(i, 7) {
				return []*delta.Item{i}
			}
			made := *i
			a := *i.Op.Assertion
			a.Memory, a.Dot.Seq = memory.ID{7, 1}, a.Dot.Seq+1000
			made.Op.Assertion = &a
			return []*delta.Item{i, &made}
		}, "it adds assertion"},
		"changes": {func(i *delta.Item) []*delta.Item {
			if !is(i, 7) {
				return []*delta.Item{i}
			}
			made := *i
			a, cand := *i.Op.Assertion, *i.Op.Assertion.Candidate
			cand.Text = "Something else."
			a.Candidate, made.Op.Assertion = &cand, &a
			return []*delta.Item{&made}
		}, "says something else"},
		"erases": {func(i *delta.Item) []*delta.Item {
			if i.Erased == nil {
				return []*delta.Item{i}
			}
			ids := append(slices.Clone(i.Erased), memory.ID{7})
			slices.SortFunc(ids, func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
			return []*delta.Item{{Erased: ids}}
		}, "it erases"},
		"hides what was erased": {func(i *delta.Item) []*delta.Item {
			if i.Erased != nil {
				return nil
			}
			return []*delta.Item{i}
		}, "it omits that"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := lived(t)
			a.lies = func(l replica.Archive) replica.Archive { return liar{l, c.each} }
			a.again()
			before := a.bodies()
			a.makeSnapshot()
			b.again()
			b.named(c.says)
			a.again()
			if got := a.bodies(); got != before {
				t.Errorf("%d bodies of %d are left", got, before)
			}
			d := b.let(b.url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
			d.sync()
			if !slices.Equal(d.knows(), b.knows()) {
				t.Errorf("the new device knows\n%q, not\n%q", d.knows(), b.knows())
			}
		})
	}
}

type relaysCheckpoints = replica.Checkpoints

// shown is a relay's checkpoints, of which it shows only what list returns.
type shown struct {
	relaysCheckpoints
	list func([]replica.Listed) []replica.Listed
}

func (s shown) Checkpoints(ctx context.Context) ([]replica.Listed, error) {
	all, err := s.relaysCheckpoints.Checkpoints(ctx)
	return s.list(all), err
}

// A relay that has shown a checkpoint, and then shows only older ones or none,
// is reported.
func TestRelayHidesACheckpoint(t *testing.T) {
	a, b := lived(t)
	a.makeSnapshot()
	b.again()
	b.again() // it has now seen the checkpoint verified
	at := b.checkpointsAt()
	b.with(replica.Snapshots{At: shown{at, func([]replica.Listed) []replica.Listed { return nil }}, Behind: 1})
	b.sync()
	b.named("shows none that is as new")
}

// A checkpoint whose author may not make one is reported and not taken.
func TestCheckpointWithoutTheRight(t *testing.T) {
	a, b := lived(t)
	worker := a.let(a.url, envelope.Writer, nil)
	_ = worker
	a.makeSnapshot()
	forged := func(all []replica.Listed) []replica.Listed {
		for i := range all {
			c, err := envelope.ParseCheckpoint(all[i].Checkpoint)
			if err != nil {
				t.Error(err)
				continue
			}
			c.Author = worker.ring.Member() // a writer may not make checkpoints
			if err := c.Sign(worker.ring.DeviceSign); err != nil {
				t.Error(err)
			}
			all[i].Checkpoint = c.Bytes()
		}
		return all
	}
	c := b.let(b.url, envelope.Owner, nil)
	c.with(replica.Snapshots{At: shown{c.checkpointsAt(), forged}, Behind: 1})
	c.sync()
	c.named("its author is writer")
	if !slices.Equal(c.knows(), a.knows()) {
		t.Errorf("it knows\n%q, not\n%q", c.knows(), a.knows())
	}
}

// swapping is a relay that returns parts of one snapshot when asked for those
// of another.
type swapping struct {
	replica.Remote
	by map[envelope.Hash][]byte
}

func (s swapping) Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	if other, ok := s.by[id]; ok {
		_, err := f.Write(other)
		return err
	}
	return s.Remote.Download(ctx, id, f, limit)
}

// memoryFile keeps in memory what is written to it.
type memoryFile struct{ b []byte }

func (m *memoryFile) Read([]byte) (int, error) { return 0, io.EOF }

func (m *memoryFile) Seek(int64, int) (int64, error) { return 0, nil }

func (m *memoryFile) Write(p []byte) (n int, err error) { m.b = append(m.b, p...); return len(p), nil }

// Parts of one snapshot are not taken for parts of another, not even of an
// older one.
func TestRelaySwapsSnapshots(t *testing.T) {
	a, b := lived(t)
	a.makeSnapshot()
	var old memoryFile
	if _, err := a.at.GetBlob(t.Context(), remote.BlobID(a.checkpoints()[0].Manifest), &old, 1<<20); err != nil {
		t.Fatal(err)
	}
	a.say(fact(60, "Since the first snapshot."))
	a.sync()
	b.sync()
	a.with(replica.Snapshots{})
	a.makeSnapshot()
	all := a.checkpoints()
	if len(all) != 2 {
		t.Fatalf("%d checkpoints", len(all))
	}
	b.again()
	c := b.let(b.url, envelope.Owner, nil)
	c.remote = func(r replica.Remote) replica.Remote {
		return swapping{r, map[envelope.Hash][]byte{all[1].Manifest: old.b}}
	}
	c.with(replica.Snapshots{Behind: 1})
	if err := c.Sync(t.Context()); !errors.Is(err, replica.ErrSnapshot) {
		t.Errorf("with parts of another: %v", err)
	}
	c.named("belongs to another")
	c.remote = nil
	c.again() // no delta was skipped
	if !slices.Equal(c.knows(), b.knows()) {
		t.Errorf("it knows\n%q, not\n%q", c.knows(), b.knows())
	}
}
