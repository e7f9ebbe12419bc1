package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
)

// FORMAT of a blob, a file blobs/NAME, where NAME is the id in base32
//
//	offset  size     field
//	0       8        "LKTBLOB1"
//	8       65577    chunk of 65536 bytes, sealed; any number of these
//	…       41+n     last chunk of n bytes, 0 to 65536, sealed
//
// Each blob has its own random key, which is stored only in the blob's record.
// When the record is deleted, nobody can decrypt the file. The associated data
// of a chunk is the id, the chunk's number (u64, big-endian), and 1 for the
// last, else 0.
const (
	blobMagic  = "LKTBLOB1"
	blobsName  = "blobs"
	chunkSize  = 64 << 10
	sealedSize = chunkSize + seal.Overhead
)

// Blob is a large value in its own file. It never changes.
type Blob struct {
	ID   memory.ID
	Size int64 // bytes of plaintext
	key  []byte
}

type blobRecord struct {
	Size  int64     `json:"s"`
	Key   []byte    `json:"k"`
	Owner memory.ID `json:"o,omitzero"`

	Outbox uint64 `json:"x,omitempty"` // its number in the outbox
}

func blobKey(id memory.ID) []byte { return keyOf(kindBlob, id[:]) }

func (s *Store) blobPath(id memory.ID) string {
	return filepath.Join(s.opt.Dir, blobsName, id.String())
}

func chunkAD(id memory.ID, n uint64, last bool) []byte {
	ad := append(id[:len(id):len(id)], u64(n)...)
	if last {
		return append(ad, 1)
	}
	return append(ad, 0)
}

// WriteBlob seals the bytes of r into a file and syncs it. The blob belongs to
// the store as soon as [Tx.KeepBlob] or [Tx.KeepRemoteBlob] names it in a
// transaction. A file that no transaction has named is removed at the next
// Open. WriteBlob returns [memory.ErrNoSpace] if it would use the reserve.
func (s *Store) WriteBlob(ctx context.Context, r io.Reader) (b Blob, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return b, ErrClosed
	}
	rand.Read(b.ID[:])
	return s.writeBlob(ctx, b.ID, r, s.opt.Reserve)
}

// WriteRemoteBlob is WriteBlob under the name that another member gave, for
// [Tx.KeepRemoteBlob]. Two blobs of the same name must not be written at the
// same time.
func (s *Store) WriteRemoteBlob(ctx context.Context, name memory.ID, r io.Reader) (b Blob, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return b, ErrClosed
	}
	if err := os.Remove(s.blobPath(name) + ".tmp"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, fmt.Errorf("store: blob: %w", err)
	}
	return s.writeBlob(ctx, name, r, s.opt.Reserve)
}

func (s *Store) writeBlob(ctx context.Context, id memory.ID, r io.Reader, reserve uint64) (b Blob, err error) {
	dir := filepath.Join(s.opt.Dir, blobsName)
	if _, err := os.Stat(dir); err != nil {
		if err := atomicfile.MkdirAll(dir); err != nil {
			return b, fmt.Errorf("store: blob: %w", err)
		}
	}
	b.ID = id
	k := seal.NewKey()
	defer k.Zero()
	b.key = k.Bytes()
	path := s.blobPath(b.ID)
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return b, fmt.Errorf("store: blob: %w", err)
	}
	b.Size, err = s.writeChunks(ctx, f, r, k, b.ID, reserve)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err == nil {
		err = atomicfile.SyncDir(dir)
	}
	if err != nil {
		return Blob{}, errors.Join(fmt.Errorf("store: blob: %w", err), os.Remove(path+".tmp"))
	}
	return b, nil
}

func (s *Store) writeChunks(ctx context.Context, w io.Writer, r io.Reader, k *seal.Key, id memory.ID, reserve uint64) (size int64, err error) {
	if _, err := io.WriteString(w, blobMagic); err != nil {
		return 0, err
	}
	// One byte more than a chunk is read to find out whether the chunk is the
	// last.
	buf, sealed := make([]byte, chunkSize+1), make([]byte, 0, sealedSize)
	have := 0
	for n := uint64(0); ; n++ {
		if err := ctx.Err(); err != nil {
			return size, context.Cause(ctx)
		}
		if err := s.roomAbove(reserve, sealedSize); err != nil {
			return size, err
		}
		got, last, err := fill(r, buf[have:])
		have += got
		if err != nil {
			return size, err
		}
		chunk := buf[:min(have, chunkSize)]
		sealed = k.Seal(sealed[:0], chunk, chunkAD(id, n, last))
		if _, err := w.Write(sealed); err != nil {
			return size, err
		}
		size += int64(len(chunk))
		if last {
			return size, nil
		}
		buf[0], have = buf[chunkSize], 1
	}
}

// fill reads until buf is full or r is at its end. It differs from io.ReadFull
// in one case: if r itself returns io.ErrUnexpectedEOF, the input is
// incomplete, and fill returns an error.
func fill(r io.Reader, buf []byte) (n int, end bool, err error) {
	for n < len(buf) {
		got, err := r.Read(buf[n:])
		n += got
		if err == io.EOF {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

// KeepBlob adds a blob to the store. The blob is erased together with owner,
// which is a memory or an utterance; zero means no owner. A blob with an owner
// goes into the outbox.
func (t *Tx) KeepBlob(b Blob, owner memory.ID) error {
	if t.state == nil {
		return errReadOnly
	}
	r := blobRecord{Size: b.Size, Key: b.key, Owner: owner}
	if !owner.IsZero() {
		var err error
		if r.Outbox, err = t.post(outboxRecord{Blob: b.ID, Memory: owner}); err != nil {
			return err
		}
	}
	return t.save(blobKey(b.ID), r)
}

// KeepRemoteBlob adds a blob that came from another member, under its name
// there. It is like KeepBlob, but does not put the blob into the outbox.
func (t *Tx) KeepRemoteBlob(b Blob, owner memory.ID) error {
	return t.save(blobKey(b.ID), blobRecord{Size: b.Size, Key: b.key, Owner: owner})
}

// DeleteBlob deletes a blob. Its file is removed after the commit.
func (t *Tx) DeleteBlob(id memory.ID) error {
	r, ok, err := load[blobRecord](t, blobKey(id))
	if err != nil || !ok {
		return err
	}
	if err := t.unpost(r.Outbox); err != nil {
		return err
	}
	path := t.store.blobPath(id)
	t.finish = append(t.finish, func() { os.Remove(path) }) // otherwise the next Open removes it
	return t.del(blobKey(id))
}

// OpenBlob returns a reader, which can be used after the transaction, or
// [memory.ErrNotFound].
func (t *Tx) OpenBlob(id memory.ID) (*BlobReader, error) {
	r, ok, err := load[blobRecord](t, blobKey(id))
	if err == nil && !ok {
		err = fmt.Errorf("store: blob %s: %w", id, memory.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	b, err := t.store.openBlob(id, r)
	if errors.Is(err, fs.ErrNotExist) {
		err = damaged(blobKey(id), "its file is missing")
	}
	return b, err
}

// BlobSize returns the length in bytes of the blob with a name in the form of
// evidence, or 0 if there is none that can be opened.
func (t *Tx) BlobSize(name string) int64 {
	id, err := memory.ParseID(name)
	if err != nil {
		return 0
	}
	r, err := t.OpenBlob(id)
	if err != nil {
		return 0
	}
	defer r.Close()
	return r.Size()
}

// ReadBlob reads a blob that was written and that no transaction has named yet;
// only b has its key. If the system keeps open files, the reader can still be
// used after [Store.DropBlob].
func (s *Store) ReadBlob(b Blob) (*BlobReader, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	return s.openBlob(b.ID, blobRecord{Size: b.Size, Key: b.key})
}

// DropBlob removes the file of a blob that no transaction has named. If there
// is none, it returns nil. If a transaction has named the blob, it returns
// [memory.ErrInvalid]; [Tx.DeleteBlob] deletes such a blob.
func (s *Store) DropBlob(b Blob) error {
	return s.View(context.Background(), func(t *Tx) error {
		switch _, named, err := t.raw(blobKey(b.ID)); {
		case err != nil:
			return err
		case named:
			return fmt.Errorf("%w: store: blob %s is in use", memory.ErrInvalid, b.ID)
		}
		if err := os.Remove(s.blobPath(b.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store: blob: %w", err)
		}
		return nil
	})
}

// sweepBlobs removes files that no record names. Open calls it.
func (s *Store) sweepBlobs() error {
	files, err := os.ReadDir(filepath.Join(s.opt.Dir, blobsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store: sweep blobs: %w", err)
	}
	return s.View(context.Background(), func(t *Tx) error {
		for _, f := range files {
			id, err := memory.ParseID(strings.TrimSuffix(f.Name(), ".tmp"))
			if err != nil {
				continue // not a file of the store
			}
			_, ok, err := t.raw(blobKey(id))
			if err == nil && !ok || strings.HasSuffix(f.Name(), ".tmp") {
				err = os.Remove(filepath.Join(s.opt.Dir, blobsName, f.Name()))
			}
			if err != nil {
				return fmt.Errorf("store: sweep blobs: %w", err)
			}
		}
		return nil
	})
}

// putBlob writes a blob without an owner within a transaction. If the transaction
// fails, the file is removed.
func (t *Tx) putBlob(data []byte) (memory.ID, error) {
	if t.state == nil {
		return memory.ID{}, errReadOnly
	}
	var id memory.ID
	rand.Read(id[:])
	b, err := t.store.writeBlob(context.Background(), id, bytes.NewReader(data), t.reserve)
	if err != nil {
		return memory.ID{}, err
	}
	path := t.store.blobPath(b.ID)
	t.undo = append(t.undo, func() { os.Remove(path) })
	return b.ID, t.KeepBlob(b, memory.ID{})
}
