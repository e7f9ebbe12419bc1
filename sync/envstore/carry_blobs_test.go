package envstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// hasBlob reports whether a store has a blob.
func hasBlob(t *testing.T, s *Store, id envelope.Hash) bool {
	t.Helper()
	all, err := s.folder.blobs()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(all, id)
}

func upload(t *testing.T, s *Store, text string) envelope.Hash {
	t.Helper()
	id, err := s.Upload(t.Context(), bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func round(t *testing.T, c *Carrier) {
	t.Helper()
	if err := c.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A blob that was deleted here stays at a remote while a note names it, and
// until everything that came from there was read.
func TestNamedBlobIsNotDeleted(t *testing.T) {
	log, state := world(t)
	mine, one := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	p := &author{actor: phone, state: state}
	take(t, mine, p.say(t, "a picture"))
	blob := upload(t, mine, "a photo, sealed")
	c := carrier(t, mine, "http://one", one)
	named, heard := map[envelope.Hash]bool{blob: true}, uint64(1)
	c.NamedBlobs = func(context.Context) (map[envelope.Hash]bool, uint64, error) { return named, heard, nil }
	round(t, c)
	if err := mine.DeleteBlob(t.Context(), blob, nil); err != nil {
		t.Fatal(err)
	}
	round(t, c)
	if !hasBlob(t, one, blob) || c.HasPendingDeletes() {
		t.Error("somebody names it, and it is gone; or it waits for nothing")
	}
	named, heard = nil, 0
	round(t, c)
	if !hasBlob(t, one, blob) || !c.HasPendingDeletes() {
		t.Error("what came was not heard, and it is gone")
	}
	heard = 1
	round(t, c)
	if hasBlob(t, one, blob) || c.HasPendingDeletes() {
		t.Error("nobody names it, and it is there")
	}
	if err := one.DeleteBlob(t.Context(), upload(t, one, "another"), new(uint64)); !errors.Is(err, replica.ErrConflict) {
		t.Errorf("deleting before all deltas were read: %v, want a conflict", err)
	}
}

// A blob was deleted at a remote, another member uploaded it again, and it is
// deleted here once more. Then it is deleted at the remote once more.
func TestBlobUploadedAgainIsDeletedAgain(t *testing.T) {
	log, _ := world(t)
	dir := t.TempDir()
	mine, one := newStore(t, dir, log), newStore(t, t.TempDir(), log)
	blob := upload(t, mine, "a photo, sealed")
	c := carrier(t, mine, "http://one", one)
	round(t, c)
	for n := range 3 {
		if n > 0 {
			if upload(t, one, "a photo, sealed") != blob {
				t.Fatal("another blob")
			}
			round(t, c)
			if !hasBlob(t, one, blob) {
				t.Fatal("it was deleted before, and goes without anybody's word")
			}
		}
		if err := mine.DeleteBlob(t.Context(), blob, nil); err != nil {
			t.Fatal(err)
		}
		mine = newStore(t, dir, log)
		c = carrier(t, mine, "http://one", one)
		round(t, c)
		if hasBlob(t, one, blob) {
			t.Errorf("it was deleted %d times here, and is there yet", n+1)
		}
	}
	upload(t, mine, "a photo, sealed")
	round(t, c)
	round(t, c)
	if !hasBlob(t, one, blob) || len(c.Standing().Unblobbed) > 0 {
		t.Error("a blob that was added here again is not at the remote")
	}
}

// busy takes a delta just before it is asked to delete a blob.
type busy struct {
	*Store
	next func()
}

func (b *busy) DeleteBlob(ctx context.Context, id envelope.Hash, at *uint64) error {
	b.next()
	return b.Store.DeleteBlob(ctx, id, at)
}

// A remote with new deltas deletes nothing. The deltas are read first.
func TestDeltasAreReadBeforeDeletion(t *testing.T) {
	log, state := world(t)
	mine, one := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	p := &author{actor: phone, state: state}
	blob := upload(t, mine, "a photo, sealed")
	at := &busy{one, func() { take(t, one, p.say(t, "it is mine, too")) }}
	c := carrier(t, mine, "http://one", at)
	c.NamedBlobs = func(context.Context) (map[envelope.Hash]bool, uint64, error) {
		_, end := mine.Position()
		return nil, end, nil
	}
	round(t, c)
	if err := mine.DeleteBlob(t.Context(), blob, nil); err != nil {
		t.Fatal(err)
	}
	round(t, c)
	if !hasBlob(t, one, blob) || !c.HasPendingDeletes() {
		t.Error("the blob was deleted before all deltas were read")
	}
	at.next = func() {}
	round(t, c)
	if hasBlob(t, one, blob) {
		t.Error("the blob is still at the remote after all deltas were read")
	}
}

// If a remote lost a blob that it had, it gets the blob again after it was
// given the delta that names it.
func TestLostBlobIsSentAgain(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	mine, one := newStore(t, dir, log), newStore(t, t.TempDir(), log)
	p := &author{actor: phone, state: state}
	blob := upload(t, mine, "a photo, sealed")
	c := carrier(t, mine, "http://one", one)
	round(t, c)
	if err := one.DeleteBlob(t.Context(), blob, nil); err != nil { // done by another member
		t.Fatal(err)
	}
	round(t, c)
	if hasBlob(t, one, blob) {
		t.Fatal("it was sent again, though nothing has asked for it")
	}
	take(t, mine, p.say(t, "a picture"))
	if has, err := mine.Holds(t.Context(), blob, 15); err != nil || !has {
		t.Fatal(has, err)
	}
	mine = newStore(t, dir, log) // after a crash
	c = carrier(t, mine, "http://one", one)
	round(t, c)
	if !hasBlob(t, one, blob) {
		t.Error("the lost blob was not sent again")
	}
	if has, err := mine.Holds(t.Context(), blob, 14); err != nil || has {
		t.Error("of another length: ", has, err)
	}
}

// A blob that is damaged here is reported and not sent. Every other blob is
// sent.
func TestDamagedBlobIsSkipped(t *testing.T) {
	log, _ := world(t)
	mine, one := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	bad, good := upload(t, mine, "short"), upload(t, mine, "a longer photo, sealed")
	if err := os.WriteFile(mine.folder.blobPath(bad), []byte("shoot"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := carrier(t, mine, "http://one", one)
	for range 2 {
		if err := c.Round(t.Context()); !errors.Is(err, memory.ErrDamaged) || !strings.Contains(err.Error(), bad.String()) {
			t.Errorf("named: %v", err)
		}
	}
	all, err := one.folder.blobs()
	if err != nil || len(all) != 1 || !hasBlob(t, one, good) {
		t.Errorf("given: %v, %v", all, err)
	}
	if has, err := mine.Holds(t.Context(), bad, 5); err != nil || !has { // asked for again, as if there were a new note
		t.Fatal(has, err)
	}
	if err := os.WriteFile(mine.folder.blobPath(bad), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	round(t, c)
	if !hasBlob(t, one, bad) {
		t.Error("the blob was repaired here, but not sent")
	}
}

// The blobs that UploadFirst returns are sent first, then the small ones.
func TestBlobsGoInOrder(t *testing.T) {
	log, _ := world(t)
	mine, one := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	large, first, small := upload(t, mine, strings.Repeat("an hour of sound ", 50)), upload(t, mine, strings.Repeat("a pinned photo ", 90)), upload(t, mine, "a photo")
	c := carrier(t, mine, "http://one", one)
	c.UploadFirst = func(_ context.Context, all []envelope.Hash) (map[envelope.Hash]bool, error) {
		if len(all) != 3 {
			t.Errorf("of %d blobs", len(all))
		}
		return map[envelope.Hash]bool{first: true}, nil
	}
	round(t, c)
	if want := []envelope.Hash{first, small, large}; !slices.Equal(c.st.Blobs, want) {
		t.Errorf("%v, want %v", c.st.Blobs, want)
	}
}

// killed is a remote that calls leave when it has sent a blob, and before the store has it.
type killed struct {
	blobRemote
	leave func()
}

func (k *killed) Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	defer k.leave()
	return k.blobRemote.Download(ctx, id, f, limit)
}

// reading is a blob that is read while leave is called.
type reading struct {
	io.ReadSeeker
	leave func()
}

func (r *reading) Read(b []byte) (int, error) {
	r.leave()
	return r.ReadSeeker.Read(b)
}

// What a kill leaves of a blob that was being written does not stay on the disk.
func TestKilledDownloadLeavesNothing(t *testing.T) {
	log, _ := world(t)
	dir, after := t.TempDir(), t.TempDir()
	s := newStore(t, dir, log)
	n := 0
	leave := func() {
		n++
		if err := os.CopyFS(filepath.Join(after, strconv.Itoa(n)), os.DirFS(dir)); err != nil {
			t.Error(err)
		}
	}
	k := &killed{blobRemote{has: map[envelope.Hash]string{}}, leave}
	id, err := k.Upload(t.Context(), strings.NewReader("a long recording"))
	if err != nil {
		t.Fatal(err)
	}
	if err := carrier(t, s, "relay", k).Download(t.Context(), id, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Upload(t.Context(), &reading{strings.NewReader("a photo"), leave}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= n; i++ {
		at := filepath.Join(after, strconv.Itoa(i))
		if _, err := Open(at, log[0].Bytes()); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(at, func(path string, _ fs.DirEntry, err error) error {
			if strings.Contains(filepath.Base(path), ".tmp") {
				t.Error("left: ", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
