package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/locket-dev/locket/memory"
)

func randomBytes(n int) []byte {
	r, b := rand.NewChaCha8([32]byte{1}), make([]byte, n)
	r.Read(b)
	return b
}

func TestBlobs(t *testing.T) {
	s := open(t, t.TempDir())
	for _, size := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 3*chunkSize + 7} {
		data := randomBytes(size)
		b, err := s.WriteBlob(t.Context(), iotest.HalfReader(bytes.NewReader(data)))
		if err != nil || b.Size != int64(size) {
			t.Fatalf("%d bytes: %d, %v", size, b.Size, err)
		}
		update(t, s, func(tx *Tx) error { return tx.KeepBlob(b, memory.ID{}) })
		var r *BlobReader
		view(t, s, func(tx *Tx) (err error) { r, err = tx.OpenBlob(b.ID); return err })
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) || r.Size() != int64(size) {
			t.Errorf("%d bytes: read %d, %v", size, len(got), err)
		}
		if size > chunkSize {
			at := make([]byte, 10)
			if _, err := r.ReadAt(at, chunkSize-9); err != nil || !bytes.Equal(at, data[chunkSize-9:][:10]) {
				t.Errorf("%d bytes: across chunks: %v", size, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		on, err := os.ReadFile(s.blobPath(b.ID))
		if err != nil || size > 8 && bytes.Contains(on, data[:8]) {
			t.Errorf("%d bytes: in clear, or %v", size, err)
		}
	}
	sound(t, s)
}

// TestBlobFileAltered: flipped bits, a file cut short, chunks that changed
// places, and another blob's file.
func TestBlobFileAltered(t *testing.T) {
	s := open(t, t.TempDir())
	var blobs []Blob
	for _, size := range []int{3 * chunkSize, 3 * chunkSize} {
		b, err := s.WriteBlob(t.Context(), bytes.NewReader(randomBytes(size)))
		if err != nil {
			t.Fatal(err)
		}
		update(t, s, func(tx *Tx) error { return tx.KeepBlob(b, memory.ID{}) })
		blobs = append(blobs, b)
	}
	path := s.blobPath(blobs[0].ID)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(s.blobPath(blobs[1].ID))
	if err != nil {
		t.Fatal(err)
	}
	altered := map[string][]byte{
		"empty": {}, "cut short": good[:len(good)-1], "longer": append(bytes.Clone(good), 0), "another's": other,
		"a chunk less": good[:len(good)-sealedSize],
		"swapped chunks": bytes.Join([][]byte{good[:8], good[8+sealedSize:][:sealedSize], good[8:][:sealedSize],
			good[8+2*sealedSize:]}, nil),
	}
	for _, at := range []int{0, 8, 9, 40, 8 + sealedSize - 1, len(good) / 2, len(good) - 1} {
		b := bytes.Clone(good)
		b[at] ^= 0x10
		altered["bit flipped at "+string(rune('a'+len(altered)))] = b
	}
	for name, b := range altered {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := s.Verify(t.Context())
		if err != nil || len(found) != 1 || found[0].Kind != "blob" || found[0].Key != blobs[0].ID.String() {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		view(t, s, func(tx *Tx) error {
			r, err := tx.OpenBlob(blobs[0].ID)
			if err == nil {
				_, err = io.ReadAll(r)
				r.Close()
			}
			if !errors.Is(err, memory.ErrDamaged) {
				t.Errorf("%s: read: %v", name, err)
			}
			return nil
		})
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) != 1 || found[0].What != "its file is missing" {
		t.Errorf("removed: %+v, %v", found, err)
	}
}

func TestOrphansAreSwept(t *testing.T) {
	s := open(t, t.TempDir())
	write := func() Blob {
		b, err := s.WriteBlob(t.Context(), bytes.NewReader(randomBytes(100)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	orphan, kept, dropped := write(), write(), write()
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.KeepBlob(kept, memory.ID{}), tx.KeepBlob(dropped, memory.ID{}))
	})
	update(t, s, func(tx *Tx) error { return tx.DeleteBlob(dropped.ID) })
	tmp := s.blobPath(testID(1)) + ".tmp"
	if err := os.WriteFile(tmp, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s)
	for path, want := range map[string]bool{s.blobPath(kept.ID): true, s.blobPath(orphan.ID): false, s.blobPath(dropped.ID): false, tmp: false} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s: %v, want it there: %v", filepath.Base(path), err, want)
		}
	}
	if _, err := s.WriteBlob(t.Context(), iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a reader that fails: %v", err)
	}
	if files, err := os.ReadDir(filepath.Join(s.opt.Dir, blobsName)); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
}

// A file that does not belong to the store stays where somebody put it.
func TestSweepKeepsForeignFiles(t *testing.T) {
	s := open(t, t.TempDir())
	b, err := s.WriteBlob(t.Context(), strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(filepath.Dir(s.blobPath(b.ID)), "notes")
	if err := os.WriteFile(notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	reopen(t, s)
	if _, err := os.Stat(notes); err != nil {
		t.Error(err)
	}
}

// A blob without a name can be read with its key, also after a rewrite, and is removed by DropBlob
// or the next Open; a named one is not dropped.
func TestBlobsWithoutAName(t *testing.T) {
	s := open(t, t.TempDir())
	data := randomBytes(chunkSize + 9)
	write := func() Blob {
		b, err := s.WriteBlob(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	dropped, left, named := write(), write(), write()
	update(t, s, func(tx *Tx) error { return tx.KeepBlob(named, memory.ID{}) })
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := s.ReadBlob(dropped)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("read %d bytes, %v", len(got), err)
	}
	for range 2 {
		if err := s.DropBlob(dropped); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DropBlob(named); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("one that has a name: %v", err)
	}
	if _, err := s.ReadBlob(dropped); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("dropped: %v", err)
	}
	view(t, s, func(tx *Tx) error {
		if _, err := tx.OpenBlob(left.ID); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("by its name: %v", err)
		}
		return nil
	})
	s = reopen(t, s)
	files, err := os.ReadDir(filepath.Join(s.opt.Dir, blobsName))
	if err != nil || len(files) != 1 || files[0].Name() != named.ID.String() {
		t.Errorf("files: %v, %v", files, err)
	}
	sound(t, s)
}

func TestSegments(t *testing.T) {
	s := open(t, t.TempDir())
	put := func(name string, seq uint64, data string) {
		update(t, s, func(tx *Tx) error { return tx.PutSegment(name, seq, []byte(data)) })
	}
	put("one", 5, "first")
	put("two", 9, "second")
	put("one", 7, "first again")
	failed := errors.New("no")
	if err := s.Update(t.Context(), func(tx *Tx) error { return errors.Join(tx.PutSegment("two", 10, []byte("lost")), failed) }); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	s = reopen(t, s)
	read := func(name string) (seg Segment, text string) {
		var r *BlobReader
		view(t, s, func(tx *Tx) (err error) { seg, r, err = tx.Segment(name); return err })
		defer r.Close()
		b, err := io.ReadAll(r)
		if err != nil {
			t.Error(err)
		}
		return seg, string(b)
	}
	if seg, text := read("one"); seg.Seq != 7 || text != "first again" || seg.Size != int64(len(text)) {
		t.Errorf("one: %+v %q", seg, text)
	}
	if seg, text := read("two"); seg.Seq != 9 || text != "second" {
		t.Errorf("two: %+v %q", seg, text)
	}
	update(t, s, func(tx *Tx) error { return errors.Join(tx.DeleteSegment("two"), tx.DeleteSegment("three")) })
	view(t, s, func(tx *Tx) error {
		if all := collect(t, tx.Segments()); len(all) != 1 || all[0].Name != "one" {
			t.Errorf("segments: %+v", all)
		}
		if _, _, err := tx.Segment("two"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("deleted: %v", err)
		}
		return nil
	})
	if files, err := os.ReadDir(filepath.Join(s.opt.Dir, blobsName)); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
	sound(t, s)
}

// A source that breaks off makes no blob, whatever error it returns.
func TestBlobOfAFailingReader(t *testing.T) {
	s := open(t, t.TempDir())
	for _, n := range []int{0, 5, chunkSize, chunkSize + 1, 3 * chunkSize} {
		r := io.MultiReader(bytes.NewReader(make([]byte, n)), iotest.ErrReader(io.ErrUnexpectedEOF))
		if _, err := s.WriteBlob(t.Context(), r); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("broken after %d bytes: %v", n, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.opt.Dir, blobsName)); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A blob that waits to be sent does not turn cold; one that was sent does, and can return under its
// name.
func TestCoolBlob(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	owner := memory.ID{7}
	b, err := s.WriteBlob(ctx, strings.NewReader("a picture"))
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error { return tx.KeepBlob(b, owner) })
	cool := func() (ok bool) {
		update(t, s, func(tx *Tx) (err error) { ok, err = tx.CoolBlob(b.ID); return err })
		return ok
	}
	here := func() (n int) {
		view(t, s, func(tx *Tx) error {
			for o, err := range tx.OwnedBlobs() {
				if err != nil {
					return err
				}
				if o.ID == b.ID && o.Owner == owner && o.Size == 9 && !o.WrittenAt.IsZero() {
					n++
				}
			}
			return nil
		})
		return n
	}
	if cool() || here() != 1 {
		t.Error("it waits in the outbox, and turned cold")
	}
	update(t, s, func(tx *Tx) error { return tx.sentUpTo(1 << 40) })
	if !cool() || here() != 0 || cool() {
		t.Error("it was sent, and did not turn cold, or twice")
	}
	if _, err := os.Stat(s.blobPath(b.ID)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its file: %v", err)
	}
	again, err := s.WriteRemoteBlob(ctx, b.ID, strings.NewReader("a picture"))
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error { return tx.KeepRemoteBlob(again, owner) })
	if here() != 1 {
		t.Error("the blob is not on the disk after KeepRemoteBlob")
	}
}
