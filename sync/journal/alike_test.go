package journal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// Equal bytes under several memories of one space are stored once at the relay,
// whoever sent them. They are deleted with the last of the memories, whoever
// erases it.
func TestEqualBlobsAreStoredOnce(t *testing.T) {
	a, b := pair(t)
	x := &alike{t, a, b, bytes.Repeat([]byte("a picture of a plum "), 10_000)}
	one, two, theirs := x.keep(a, 1), x.keep(a, 2), x.keep(b, 3)
	a.sync()
	b.sync()
	first, second, third := x.at(one), x.at(two), x.at(theirs)
	if first.Sealed != second.Sealed || first.Sealed != third.Sealed || !bytes.Equal(first.Key, third.Key) {
		t.Fatalf("%s, %s, and another member's %s", first.Sealed, second.Sealed, third.Sealed)
	}
	x.erase(a, 1)
	x.erase(a, 2)
	if !x.has(first) {
		t.Fatal("the blob was deleted although another member has it")
	}
	if err := a.FetchBlob(t.Context(), theirs); err != nil {
		t.Error(err)
	}
	if err := b.FetchBlob(t.Context(), one); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("of what was erased: %v", err)
	}
	four := x.keep(a, 4)
	b.sync()
	if x.at(four).Sealed != first.Sealed {
		t.Error("an equal blob was sent a second time")
	}
	x.erase(a, 3) // the blob of the other member
	if !x.has(first) {
		t.Error("the blob was deleted although a fourth memory has it")
	}
	x.erase(b, 4)
	if x.has(first) {
		t.Error("the last is erased, and it is there yet")
	}
}

// Two spaces with the same picture at the same relay have separate blobs, with
// different names and keys.
func TestEqualBlobsOfTwoSpaces(t *testing.T) {
	url := serveRelay(t)
	a, b := newMember(t, url, nil), newMember(t, url, nil)
	x, y := &alike{t, a, a, []byte("a plum")}, &alike{t, b, b, []byte("a plum")}
	one, other := x.at(x.keep(a, 1)), y.at(y.keep(b, 1))
	if one.Sealed == other.Sealed || bytes.Equal(one.Key, other.Key) {
		t.Error("two spaces have one blob")
	}
}

// Equal content of two epochs is one blob: while an older note exists, the
// newer note names the blob under the older epoch's key.
func TestEqualBlobsOfTwoEpochs(t *testing.T) {
	a, b := pair(t)
	x := &alike{t, a, b, []byte("a plum of last month")}
	first := x.at(x.keep(a, 1))
	if _, err := a.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.sync()
	second := x.at(x.keep(b, 2))
	a.sync()
	if second.Sealed != first.Sealed {
		t.Fatal("equal bytes were stored twice")
	}
	x.erase(a, 1)
	x.erase(b, 2)
	if x.has(first) {
		t.Fatal("the blob is still at the relay after both memories were erased")
	}
	third := x.at(x.keep(a, 3)) // because a member that was removed since may know the old key
	if third.Sealed == first.Sealed || bytes.Equal(third.Key, first.Key) {
		t.Error("nobody named it, and an old epoch's key is used again")
	}
}

// A member names a blob that it found at the relay, and drops its own bytes,
// while another deletes the blob. If the deleting member had not read the note,
// the blob is sent again. If it had, it does not delete the blob.
func TestBlobIsNamedWhileAnotherDeletesIt(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after func(x *alike, between func())
	}{
		"the note comes before the deletion": {before: func(x *alike, between func()) { between() }},
		"the note comes after the deletion":  {after: func(x *alike, between func()) { between() }},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			x := &alike{t, a, b, bytes.Repeat([]byte("a plum "), 100)}
			one := x.at(x.keep(a, 1))
			b.sync()
			a.erase(1)
			// b acts in the middle of a's round.
			var named memory.ID
			in := &between{before: func() {
				if tt.before != nil {
					tt.before(x, func() { named = x.keep(b, 2) })
				}
			}, after: func() {
				if tt.after != nil {
					tt.after(x, func() { named = x.keep(b, 2) })
				}
			}}
			a.close()
			a.remote = func(r replica.Remote) replica.Remote { in.Remote = r; return in }
			a.open()
			a.sync()
			if !in.done || named.IsZero() {
				t.Fatal("the test deleted or named no blob")
			}
			if !x.has(one) {
				t.Fatal("somebody names it, and it is gone")
			}
			a.sync()
			if err := a.FetchBlob(t.Context(), named); err != nil {
				t.Error(err)
			}
			x.erase(a, 2)
			if x.has(one) {
				t.Error("nobody names it, and it is there")
			}
		})
	}
}

// between makes something happen around the first deletion of a blob.
type between struct {
	replica.Remote
	before, after func()
	done          bool
}

func (b *between) DeleteBlob(ctx context.Context, id envelope.Hash, at *uint64) error {
	if b.done {
		return b.Remote.DeleteBlob(ctx, id, at)
	}
	b.done = true
	b.before()
	err := b.Remote.DeleteBlob(ctx, id, at)
	b.after()
	return err
}

// The reverse case: a member deletes a blob that another has just found and is
// about to name. The other one checks again after naming it, and sends it. Only
// then may it drop its own bytes.
func TestBlobIsDeletedWhileAnotherNamesIt(t *testing.T) {
	a, b := pair(t)
	x := &alike{t, a, b, bytes.Repeat([]byte("a plum "), 100)}
	one := x.at(x.keep(a, 1))
	b.sync()
	in := &appending{before: func() {
		a.erase(1)
		a.sync()
		if x.has(one) {
			t.Error("it was not deleted, so that nothing is tried")
		}
	}}
	b.close()
	b.remote = func(r replica.Remote) replica.Remote { in.Remote = r; return in }
	b.open()
	two := x.keep(b, 2)
	if !in.done || x.at(two).Sealed != one.Sealed || !x.has(one) {
		t.Fatal("what is named is not there")
	}
	b.update(func(tx *store.Tx) error {
		cooled, err := tx.CoolBlob(two)
		if !cooled {
			t.Error("the blob could not be cooled, because it is still in the outbox")
		}
		return err
	})
	for range 2 {
		a.sync()
		b.sync()
	}
	if err := errors.Join(a.FetchBlob(t.Context(), two), b.FetchBlob(t.Context(), two)); err != nil {
		t.Error(err)
	}
}

// appending makes something happen before the first delta is sent.
type appending struct {
	replica.Remote
	before func()
	done   bool
}

func (b *appending) Append(ctx context.Context, d *envelope.Delta) error {
	if !b.done {
		b.done = true
		b.before()
	}
	return b.Remote.Append(ctx, d)
}

// A relay that claims to have a blob which it was never given has to show a
// piece of it. It is reported, and gets the blob when it tells the truth.
func TestRelayMustProveThatItHasABlob(t *testing.T) {
	a, b := pair(t)
	x := &alike{t, a, b, bytes.Repeat([]byte("a plum "), 100)}
	a.close()
	lies := true
	a.remote = func(r replica.Remote) replica.Remote { return &boaster{r, &lies} }
	a.open()
	one := x.keep(a, 1)
	problems, err := a.Problems(t.Context())
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Reason, "shows something else") {
		t.Errorf("%v, %v", problems, err)
	}
	if x.has(x.at(one)) {
		t.Fatal("it was given it, so that nothing is tried")
	}
	lies = false
	a.sync()
	if !x.has(x.at(one)) {
		t.Error("the blob was not sent after the relay had failed to prove that it has it")
	}
}

// boaster claims to have every blob.
type boaster struct {
	replica.Remote
	lies *bool
}

func (b *boaster) Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error) {
	if !*b.lies {
		return b.Remote.Upload(ctx, r)
	}
	sum := sha256.New()
	_, err := io.Copy(sum, r)
	return envelope.Hash(sum.Sum(nil)), err
}

func (b *boaster) Holds(ctx context.Context, id envelope.Hash, size int64) (bool, error) {
	if !*b.lies {
		return b.Remote.Holds(ctx, id, size)
	}
	return true, nil
}

func (b *boaster) Piece(ctx context.Context, id envelope.Hash, from, n, size int64) ([]byte, error) {
	if !*b.lies {
		return b.Remote.Piece(ctx, id, from, n, size)
	}
	return make([]byte, n), nil
}

// Different bytes have different keys and names.
func TestDifferentBlobsHaveDifferentNames(t *testing.T) {
	a, b := pair(t)
	x, y := &alike{t, a, b, []byte("a plum")}, &alike{t, a, b, []byte("a pear")}
	one, other := x.at(x.keep(a, 1)), y.at(y.keep(a, 2))
	if one.Sealed == other.Sealed || bytes.Equal(one.Key, other.Key) {
		t.Error("two pictures have one key")
	}
}

// A blob of a device that never comes back can still be deleted, by any owner
// that forgets it.
func TestBlobOfALostDeviceIsDeleted(t *testing.T) {
	a, b := pair(t)
	x := &alike{t, a, b, []byte("a plum of a device that was lost")}
	one := x.at(x.keep(b, 1))
	a.sync()
	a.erase(1)
	a.sync()
	if x.has(one) {
		t.Error("the blob is still at the relay after its memory was erased")
	}
}

// A blob is deleted if it was sent and its memory was erased before the note
// was sent.
func TestBlobWithoutNoteIsDeleted(t *testing.T) {
	a, b := pair(t)
	x := &alike{t, a, b, []byte("a plum that nobody heard of")}
	a.close()
	a.remote = func(r replica.Remote) replica.Remote { return &mute{Remote: r} }
	a.open()
	kept, err := a.store.WriteBlob(t.Context(), bytes.NewReader(x.picture))
	if err != nil {
		t.Fatal(err)
	}
	a.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{1}) })
	a.say(fact(1, "A plum."))
	if err := a.Sync(t.Context()); !errors.Is(err, errMute) {
		t.Fatal(err)
	}
	doubts, err := a.journal().Doubts(t.Context())
	if err != nil || len(doubts) != 1 || !x.has(delta.Blob{Sealed: doubts[0].Sealed}) {
		t.Fatal("it was not sent: ", doubts, err)
	}
	a.close()
	a.remote = nil
	a.open()
	a.erase(1)
	a.sync()
	a.sync()
	if x.has(delta.Blob{Sealed: doubts[0].Sealed}) {
		t.Error("the blob without a note is still at the relay")
	}
}

var errMute = errors.New("no delta gets through after a blob")

type mute struct {
	replica.Remote
	given bool // it was given a blob
}

func (r *mute) Upload(ctx context.Context, from io.ReadSeeker) (envelope.Hash, error) {
	r.given = true
	return r.Remote.Upload(ctx, from)
}

func (r *mute) Append(ctx context.Context, d *envelope.Delta) error {
	if r.given {
		return errMute
	}
	return r.Remote.Append(ctx, d)
}

// alike has two members with the same picture.
type alike struct {
	t       *testing.T
	a, b    *member
	picture []byte
}

// keep makes a member keep the picture for a memory, and send it.
func (x *alike) keep(m *member, n byte) memory.ID {
	x.t.Helper()
	kept, err := m.store.WriteBlob(x.t.Context(), bytes.NewReader(x.picture))
	if err != nil {
		x.t.Fatal(err)
	}
	m.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{n}) })
	m.say(fact(n, "A plum, number "+string('0'+rune(n))+"."))
	m.sync()
	return kept.ID
}

// at returns where a blob is, as both members know it.
func (x *alike) at(name memory.ID) delta.Blob {
	x.t.Helper()
	for _, m := range []*member{x.a, x.b} {
		if d, err := m.journal().RemoteBlob(x.t.Context(), name); err == nil {
			return d
		}
	}
	x.t.Fatal("nobody knows of it")
	return delta.Blob{}
}

func (x *alike) has(d delta.Blob) bool {
	x.t.Helper()
	_, _, err := x.a.at.HasBlob(x.t.Context(), remote.BlobID(d.Sealed))
	if err != nil && !errors.Is(err, remote.ErrNotFound) {
		x.t.Fatal(err)
	}
	return err == nil
}

func (x *alike) erase(m *member, n byte) {
	x.t.Helper()
	m.erase(n)
	m.sync()
	for range 2 {
		x.a.sync()
		x.b.sync()
	}
}
