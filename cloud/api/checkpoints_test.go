package api_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// checkpoint makes a checkpoint of deltas in the relay's order.
func checkpoint(t *testing.T, h *storetest.Household, by *storetest.Person, manifest []byte, ds ...*envelope.Delta) *envelope.Checkpoint {
	t.Helper()
	last := map[memory.MemberID]envelope.Place{}
	for _, d := range ds {
		last[d.Header.Member] = envelope.Place{Member: d.Header.Member, Incarnation: d.Header.Incarnation, Seq: d.Header.Seq, Hash: d.Header.Hash()}
	}
	c := &envelope.Checkpoint{Space: h.Space, Author: by.ID, Head: h.State.Head(), Epoch: h.State.Epoch(), Cursor: uint64(len(ds)),
		Manifest: sha256.Sum256(manifest), Size: uint32(len(manifest))}
	for _, p := range last {
		c.Places = append(c.Places, p)
	}
	relay.SortPlaces(c.Places)
	if err := c.Sign(envelope.KeySigner(by.Key)); err != nil {
		t.Fatal(err)
	}
	return c
}

func vote(t *testing.T, h *storetest.Household, by *storetest.Person, c *envelope.Checkpoint, verdict envelope.Verdict) *envelope.Vote {
	t.Helper()
	v := &envelope.Vote{Space: h.Space, Member: by.ID, Checkpoint: c.Hash(), Verdict: verdict, Head: h.State.Head()}
	if err := v.Sign(envelope.KeySigner(by.Key)); err != nil {
		t.Fatal(err)
	}
	return v
}

// Bodies are deleted for a checkpoint that another member has verified, and for no other.
func TestCompaction(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("compaction")
	ctx := t.Context()
	ds := append(s.send(h, h.Owner, "one", "two"), s.send(h, h.Writer, "three")...)
	manifest := []byte("sealed manifest")
	owner, writer, reader := s.as(h, h.Owner), s.as(h, h.Writer), s.as(h, h.Reader)
	c := checkpoint(t, h, h.Owner, manifest, ds...)
	s.is(owner.PutCheckpoint(ctx, c), remote.ErrConflict) // its manifest is missing
	_, err := owner.PutBlob(ctx, bytes.NewReader(manifest))
	s.ok(err)

	// Only members are told which places a checkpoint needs.
	places, err := reader.Places(ctx, 2)
	s.ok(err)
	if want := checkpoint(t, h, h.Owner, manifest, ds[0], ds[1]).Places; !slices.Equal(places, want) {
		t.Errorf("at 2: %v, want %v", places, want)
	}
	_, err = owner.Places(ctx, 4)
	s.is(err, remote.ErrAhead)
	_, err = s.as(s.settle("elsewhere"), h.Owner).Places(ctx, 0)
	s.is(err, remote.ErrForbidden)

	// A checkpoint with a wrong cursor or wrong places is refused, and so is another member's.
	s.ok(owner.PutCheckpoint(ctx, checkpoint(t, h, h.Owner, manifest, ds[0], ds[1])))
	short := checkpoint(t, h, h.Owner, manifest, ds...)
	short.Cursor = 2
	s.ok(short.Sign(envelope.KeySigner(h.Owner.Key)))
	s.is(owner.PutCheckpoint(ctx, short), remote.ErrConflict)
	short.Cursor = 9
	s.ok(short.Sign(envelope.KeySigner(h.Owner.Key)))
	s.is(owner.PutCheckpoint(ctx, short), remote.ErrAhead)
	other := checkpoint(t, h, h.Owner, manifest, ds...)
	other.Places[0].Hash[0] ^= 1
	s.ok(other.Sign(envelope.KeySigner(h.Owner.Key)))
	s.is(owner.PutCheckpoint(ctx, other), remote.ErrConflict)
	s.is(writer.PutCheckpoint(ctx, c), remote.ErrForbidden)
	s.is(writer.PutCheckpoint(ctx, checkpoint(t, h, h.Writer, manifest, ds...)), remote.ErrForbidden)

	s.ok(owner.PutCheckpoint(ctx, c))
	s.ok(owner.PutCheckpoint(ctx, c))
	_, err = owner.Compact(ctx, c.Hash())
	s.is(err, remote.ErrForbidden) // nobody has verified it
	s.ok(owner.PutVote(ctx, vote(t, h, h.Owner, c, envelope.Agree)))
	_, err = owner.Compact(ctx, c.Hash())
	s.is(err, remote.ErrForbidden) // its author's own vote
	s.is(reader.PutVote(ctx, vote(t, h, h.Reader, c, envelope.Agree)), remote.ErrForbidden)
	s.is(owner.PutVote(ctx, vote(t, h, h.Writer, c, envelope.Agree)), remote.ErrForbidden)
	agreed := vote(t, h, h.Writer, c, envelope.Agree)
	s.ok(writer.PutVote(ctx, agreed))
	_, err = writer.Compact(ctx, c.Hash())
	s.is(err, remote.ErrForbidden) // a writer may not
	n, err := owner.Compact(ctx, c.Hash())
	s.ok(err)
	if n != 3 {
		t.Fatal(n, "bodies went")
	}
	got, _, err := reader.Pull(ctx, 0, 9, 0)
	s.ok(err)
	for i, d := range got {
		if d.Body != nil || d.Header != ds[i].Header {
			t.Errorf("delta %d", i)
		}
	}
	all, err := reader.Checkpoints(ctx)
	s.ok(err)
	if len(all) != 2 || !bytes.Equal(all[1].Checkpoint, c.Bytes()) || len(all[1].Votes) != 2 || !bytes.Equal(all[1].Votes[1], agreed.Bytes()) {
		t.Errorf("%+v", all)
	}

	// A checkpoint with an objection can't be used any more.
	ds = append(ds, s.send(h, h.Owner, "four")...)
	next := checkpoint(t, h, h.Owner, manifest, ds...)
	s.ok(owner.PutCheckpoint(ctx, next))
	s.ok(writer.PutVote(ctx, vote(t, h, h.Writer, next, envelope.Agree)))
	s.ok(writer.PutVote(ctx, vote(t, h, h.Writer, next, envelope.Object)))
	_, err = owner.Compact(ctx, next.Hash())
	s.is(err, remote.ErrForbidden)
	s.is(writer.DropCheckpoint(ctx, next.Hash()), remote.ErrForbidden)
	s.ok(owner.DropCheckpoint(ctx, next.Hash()))
	_, err = owner.Compact(ctx, next.Hash())
	s.is(err, remote.ErrNotFound)
}

// A checkpoint doesn't count what a removal leaves out: one that names it is refused, and so is one
// that names another end of what counts.
func TestCheckpointExcludesWhatARemovalDropped(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("left out")
	ctx := t.Context()
	ds := append(s.send(h, h.Owner, "one"), s.send(h, h.Writer, "in time", "late", "later")...)
	manifest := []byte("sealed manifest")
	owner := s.as(h, h.Owner)
	_, err := owner.PutBlob(ctx, bytes.NewReader(manifest))
	s.ok(err)
	before := checkpoint(t, h, h.Owner, manifest, ds...)
	removal := h.Remove(h.Owner, h.Writer, ds[1].Header.Position())
	s.is(owner.AppendLog(ctx, removal, ""), remote.ErrConflict)
	s.ok(owner.AppendLog(ctx, removal, ""))
	s.is(owner.PutCheckpoint(ctx, before), remote.ErrConflict)
	s.is(owner.PutCheckpoint(ctx, checkpoint(t, h, h.Owner, manifest, ds...)), remote.ErrConflict)

	c := checkpoint(t, h, h.Owner, manifest, ds[:2]...)
	c.Cursor = 4
	s.ok(c.Sign(envelope.KeySigner(h.Owner.Key)))
	other := *c
	other.Places = slices.Clone(c.Places)
	i := slices.IndexFunc(other.Places, func(p envelope.Place) bool { return p.Member == h.Writer.ID })
	other.Places[i].Hash = ds[3].Header.Hash()
	s.ok(other.Sign(envelope.KeySigner(h.Owner.Key)))
	s.is(owner.PutCheckpoint(ctx, &other), remote.ErrConflict)
	s.ok(owner.PutCheckpoint(ctx, c))
	places, err := owner.Places(ctx, 4)
	s.ok(err)
	if !slices.Equal(places, c.Places) {
		t.Errorf("at 4: %v, want %v", places, c.Places)
	}
	n, err := owner.Compact(ctx, c.Hash()) // the removed members' votes do not count any more
	s.ok(err)
	if n != 4 {
		t.Errorf("%d bodies went", n)
	}
}

// Simultaneous checkpoints or votes may exceed a limit. The answer is still no larger than a
// replica accepts; otherwise it could not sync any more.
func TestConcurrentCheckpointsPastALimit(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("past a limit")
	ds := s.send(h, h.Owner, "one")
	keep := func(id, about envelope.Hash, b []byte) {
		t.Helper()
		s.ok(s.store.PutRecord(t.Context(), h.Space, relay.Record{ID: id, About: about, Bytes: b}, relay.Quota{}))
	}
	var first *envelope.Checkpoint
	for n := range relay.MaxCheckpoints + 1 {
		c := checkpoint(t, h, h.Owner, []byte{byte(n)}, ds...)
		keep(c.Hash(), c.Hash(), c.Bytes())
		if n == 0 {
			first = c
		}
	}
	for n := range page.MaxVotes + 1 {
		v := vote(t, h, h.Writer, first, envelope.Agree)
		v.Head[0] ^= byte(n)
		keep(v.Hash(), first.Hash(), v.Bytes())
	}
	all, err := s.as(h, h.Reader).Checkpoints(t.Context())
	s.ok(err)
	if len(all) != page.MaxCheckpoints || len(all[0].Votes) != page.MaxVotes {
		t.Errorf("%d checkpoints, %d votes", len(all), len(all[0].Votes))
	}
}

// wakes records what other relays on the store are told.
type wakes struct {
	relay.Wakes
	sent []relay.Wake
}

func (w *wakes) Send(s relay.Wake) { w.sent = append(w.sent, s) }

// Checkpoints and votes also wake listeners at other relays.
func TestCheckpointsWakeOtherRelays(t *testing.T) {
	w := new(wakes)
	s := serve(t, relay.Config{Wakes: w}, nil)
	h := s.settle("wakes")
	ds := s.send(h, h.Owner, "one")
	owner, ctx, manifest := s.as(h, h.Owner), t.Context(), []byte("sealed manifest")
	_, err := owner.PutBlob(ctx, bytes.NewReader(manifest))
	s.ok(err)
	c := checkpoint(t, h, h.Owner, manifest, ds...)
	for what, change := range []func() error{
		func() error { return owner.PutCheckpoint(ctx, c) },
		func() error { return s.as(h, h.Writer).PutVote(ctx, vote(t, h, h.Writer, c, envelope.Agree)) },
		func() error { return owner.DropCheckpoint(ctx, c.Hash()) },
	} {
		before := len(w.sent)
		s.ok(change())
		if len(w.sent) != before+1 || w.sent[before] != (relay.Wake{ID: h.Space}) {
			t.Errorf("change %d: %v", what, w.sent[before:])
		}
	}
}
