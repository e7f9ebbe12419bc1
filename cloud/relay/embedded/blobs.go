package embedded

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
)

// A chunk is written to the file, the file is synced, and then the table
// records the new offset. Bytes in the file beyond this offset were never
// acknowledged, and the next chunk overwrites them. When a blob is complete,
// its bytes are hashed, the file is renamed, and the folder is synced. Then
// the table marks the blob as done. So a file with the final name is always
// complete, whatever the table says.

func (s *Store) path(space memory.SpaceID, id relay.BlobID) string {
	return filepath.Join(s.blobs, space.String(), id.String())
}

func (s *Store) Blob(ctx context.Context, id memory.SpaceID, blob relay.BlobID) (relay.Blob, error) {
	b, err := row(ctx, s.read, id, blob)
	if err != nil {
		return relay.Blob{}, fmt.Errorf("blob: %w", err)
	}
	return b, nil
}

func row(ctx context.Context, q querier, id memory.SpaceID, blob relay.BlobID) (relay.Blob, error) {
	var b relay.Blob
	var author []byte
	err := q.QueryRowContext(ctx, "SELECT author, size, offset, done FROM blobs WHERE space = ? AND id = ?", id[:], blob[:]).
		Scan(&author, &b.Size, &b.Offset, &b.Done)
	copy(b.Author[:], author)
	return b, found(err)
}

func (s *Store) WriteBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID, author memory.MemberID, size, offset int64, chunk []byte, quota relay.Quota, now time.Time) (relay.Blob, error) {
	defer s.locks.lock(s.path(id, blob))()
	b, err := s.begin(ctx, id, blob, author, size, quota, now)
	if err != nil {
		return relay.Blob{}, err
	}
	switch {
	case b.Size != size:
		return b, fmt.Errorf("blob of %d bytes: %w: it was begun with %d", size, relay.ErrOffset, b.Size)
	case offset+int64(len(chunk)) <= b.Offset:
		return b, nil // the chunk or the blob is here already
	case offset != b.Offset:
		return b, fmt.Errorf("chunk at %d: %w, at %d", offset, relay.ErrOffset, b.Offset)
	}
	if err := s.put(id, blob, offset, chunk); err != nil {
		return b, fmt.Errorf("write blob: %w", full(err))
	}
	b.Offset += int64(len(chunk))
	if b.Offset == size {
		if err := s.finish(id, blob); errors.Is(err, relay.ErrBlob) {
			return relay.Blob{}, errors.Join(err, s.forgetBlob(ctx, id, blob, nil))
		} else if err != nil {
			return relay.Blob{}, fmt.Errorf("write blob: %w", err)
		}
		b.Done = true
	}
	return b, s.change(ctx, "write blob", func(ctx context.Context, tx *sql.Tx) error {
		touched := now.Unix()
		if b.Done {
			touched = 0
		}
		n, err := affected(tx.ExecContext(ctx, "UPDATE blobs SET offset = ?, done = ?, touched = ? WHERE space = ? AND id = ?",
			b.Offset, b.Done, touched, id[:], blob[:]))
		if err != nil || n == 0 {
			return errors.Join(relay.ErrNotFound, err) // its space was deleted meanwhile
		}
		return nil
	})
}

// begin returns the blob's row, and makes one if there is none.
func (s *Store) begin(ctx context.Context, id memory.SpaceID, blob relay.BlobID, author memory.MemberID, size int64, quota relay.Quota, now time.Time) (b relay.Blob, err error) {
	b, err = row(ctx, s.read, id, blob)
	if err == nil || !errors.Is(err, relay.ErrNotFound) {
		return b, err
	}
	err = s.inSpace(ctx, "begin blob", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		if err := spend(ctx, tx, head.Account, quota, size, 1); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO blobs VALUES (?, ?, ?, ?, 0, 0, ?)", id[:], blob[:], author[:], size, now.Unix())
		return err
	})
	return relay.Blob{Author: author, Size: size}, err
}

// put writes a chunk into the .part file and syncs it.
func (s *Store) put(id memory.SpaceID, blob relay.BlobID, offset int64, chunk []byte) error {
	path := s.path(id, blob)
	if _, err := os.Stat(path); err == nil { // a crash came between the rename and the table
		return os.Rename(path, path+".part")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path+".part", os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(chunk, offset)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil || offset > 0 {
		return err
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(path)), atomicfile.SyncDir(s.blobs)) // both names may be new
}

// finish checks the hash of the .part file and gives the file its final name.
func (s *Store) finish(id memory.SpaceID, blob relay.BlobID) error {
	path := s.path(id, blob)
	f, err := os.Open(path + ".part")
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if relay.BlobID(sum.Sum(nil)) != blob {
		return relay.ErrBlob
	}
	if err := os.Rename(path+".part", path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

func (s *Store) OpenBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID) (io.ReadSeekCloser, int64, error) {
	b, err := row(ctx, s.read, id, blob)
	if err == nil && !b.Done {
		err = relay.ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	f, err := os.Open(s.path(id, blob))
	if errors.Is(err, os.ErrNotExist) {
		err = relay.ErrNotFound // deleted a moment ago
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() != b.Size { // the disk has truncated it: the relay says that it lacks the blob, so that a member sends it again
		err = relay.ErrNotFound
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open blob: %w", err), f.Close())
	}
	return f, b.Size, nil
}

func (s *Store) DeleteBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID, at *uint64) error {
	defer s.locks.lock(s.path(id, blob))()
	return s.forgetBlob(ctx, id, blob, at)
}

// forgetBlob removes the row and the files. The caller holds the blob's lock.
func (s *Store) forgetBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID, at *uint64) error {
	err := s.inSpace(ctx, "delete blob", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		if at != nil && head.Cursor != *at {
			return relay.ErrConflict
		}
		b, err := row(ctx, tx, id, blob)
		if err != nil {
			return err
		}
		if err := use(ctx, tx, head.Account, -b.Size, -1); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM blobs WHERE space = ? AND id = ?", id[:], blob[:])
		return err
	})
	if err != nil {
		return err
	}
	path := s.path(id, blob)
	return errors.Join(ignoreNotExist(os.Remove(path)), ignoreNotExist(os.Remove(path+".part")))
}

func (s *Store) removeFolder(id memory.SpaceID) error {
	if err := os.RemoveAll(filepath.Join(s.blobs, id.String())); err != nil {
		return fmt.Errorf("delete space: %w", err)
	}
	return nil
}

// ignoreNotExist returns nil if err says that there is nothing to remove.
func ignoreNotExist(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// locks has a lock for each name that is in use.
type locks struct {
	mu   sync.Mutex
	held map[string]*held
}

type held struct {
	mu sync.Mutex
	n  int // number of holders and waiters
}

// lock waits for the lock of name and returns the function that releases it.
func (l *locks) lock(name string) func() {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*held{}
	}
	h := l.held[name]
	if h == nil {
		h = new(held)
		l.held[name] = h
	}
	h.n++
	l.mu.Unlock()
	h.mu.Lock()
	return func() {
		h.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if h.n--; h.n == 0 {
			delete(l.held, name)
		}
	}
}
