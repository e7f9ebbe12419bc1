package envstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// pageBytes and pageDeltas bound one answer of Deltas. A relay has the same
// limits.
const (
	pageBytes  = 4 << 20
	pageDeltas = 256
)

func (s *Store) Log(_ context.Context, n uint64) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.log.N() {
		return nil, fmt.Errorf("envelope store: %w: its log is at %d", replica.ErrAhead, s.log.N())
	}
	return append([][]byte(nil), s.entries[n:]...), nil
}

// SetLogAppender sets the function that appends a membership entry at the primary
// relay. The store calls it before it takes an entry that was made on this
// device. Without a primary relay, two devices that change the membership at
// the same time make a fork, and the fork is reported.
func (s *Store) SetLogAppender(appendLog func(context.Context, *envelope.Entry) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mayLog = appendLog
}

func (s *Store) AppendLog(ctx context.Context, e *envelope.Entry) error {
	s.mu.Lock()
	first, known := s.mayLog, e.N <= s.log.N()
	s.mu.Unlock()
	if first != nil && !known {
		if err := first(ctx, e); err != nil {
			return err
		}
	}
	err := s.TakeEntry(e)
	var fork *envelope.ForkError
	if errors.As(err, &fork) || errors.Is(err, envelope.ErrGap) {
		return fmt.Errorf("envelope store: %w: %w", replica.ErrConflict, err)
	}
	return err
}

func (s *Store) Deltas(_ context.Context, after uint64) ([]replica.Placed, error) {
	s.mu.Lock()
	n := uint64(len(s.order))
	s.mu.Unlock()
	if after > n {
		return nil, fmt.Errorf("envelope store: %w: it is at %d", replica.ErrAhead, n)
	}
	var out []replica.Placed
	size := 0
	for i, ref := range s.since(int(after)) {
		d, err := s.read(ref)
		if err != nil {
			return nil, fmt.Errorf("envelope store: %w", err)
		}
		b := d.Bytes()
		if size += len(b); len(out) == pageDeltas || len(out) > 0 && size > pageBytes {
			break
		}
		out = append(out, replica.Placed{Cursor: after + uint64(i) + 1, Delta: b})
	}
	return out, nil
}

// Append implements replica.Remote for this device's own deltas.
func (s *Store) Append(_ context.Context, d *envelope.Delta) error {
	_, err := s.TakeDelta(d)
	var fork *envelope.ForkError
	if errors.As(err, &fork) {
		return fmt.Errorf("envelope store: %w: %w", replica.ErrFork, err)
	}
	return err
}

func (s *Store) Wait(ctx context.Context, after uint64) error {
	s.mu.Lock()
	n, changed := uint64(len(s.order)), s.changed
	s.mu.Unlock()
	if n > after {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
		return nil
	}
}

// Forget implements replica.Remote. It removes the bodies from the store.
// Carriers then remove those of this device's own deltas from the remotes.
func (s *Store) Forget(_ context.Context, refs []replica.Ref) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range refs {
		if _, gone := s.gone[r]; gone {
			continue
		}
		d, err := s.read(r)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		path := filepath.Join(s.root, "gone")
		if err := appendRef(path, r); err != nil {
			return err
		}
		if err := s.folder.put(d.WithoutBody()); err != nil {
			return errors.Join(err, cutLine(path))
		}
		s.gone[r] = len(s.gone)
	}
	return nil
}

func (s *Store) Upload(_ context.Context, r io.ReadSeeker) (envelope.Hash, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return envelope.Hash{}, err
	}
	id := envelope.Hash(sum.Sum(nil))
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return id, err
	}
	if err := s.folder.putBlob(id, r, maxBlob); err != nil {
		return id, err
	}
	return id, s.undelete(id)
}

// Holds implements replica.Blobs. If the store has the blob, each remote is
// asked for it once more, after it was given all deltas that the store has now.
func (s *Store) Holds(_ context.Context, id envelope.Hash, size int64) (bool, error) {
	info, err := os.Lstat(s.folder.blobPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || info.Size() != size {
		return false, err
	}
	return true, s.askAgain(id)
}

func (s *Store) Piece(_ context.Context, id envelope.Hash, from, n, _ int64) ([]byte, error) {
	f, err := s.folder.openBlob(id)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("blob %s: %w", id, replica.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	_, err = f.ReadAt(b, from)
	return b, err
}

// Fetch sets the functions that are asked, in this order, for blobs that the
// store does not have.
func (s *Store) Fetch(from ...func(context.Context, envelope.Hash, io.ReadWriteSeeker, int64) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobAt = from
}

func (s *Store) Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	err := s.copyBlob(id, f, limit)
	if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, replica.ErrBlob) {
		return err
	}
	bad := errors.Is(err, replica.ErrBlob) // the file here is damaged, and a remote may have an intact copy
	s.mu.Lock()
	from := s.blobAt
	s.mu.Unlock()
	var all error
	for _, get := range from {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := get(ctx, id, f, limit); err == nil {
			return nil
		} else if all = errors.Join(all, err); ctx.Err() != nil {
			return all
		}
	}
	if bad {
		return errors.Join(err, all)
	}
	if all == nil {
		all = fmt.Errorf("blob %s: %w", id, replica.ErrNotFound)
	}
	return all
}

// copyBlob copies a blob of the store and checks it.
func (s *Store) copyBlob(id envelope.Hash, f io.WriteSeeker, limit int64) error {
	from, err := s.folder.openBlob(id)
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(from, limit+1))
	if err != nil {
		return err
	}
	if n > limit || envelope.Hash(sum.Sum(nil)) != id {
		return fmt.Errorf("blob %s: %w", id, replica.ErrBlob)
	}
	return nil
}

// DeleteBlob implements replica.Blobs. The store's blob is deleted at once. A
// remote's blob is deleted after all of its deltas were read and if no note
// names the blob.
func (s *Store) DeleteBlob(_ context.Context, id envelope.Hash, at *uint64) error {
	if at != nil {
		s.mu.Lock()
		n := uint64(len(s.order))
		s.mu.Unlock()
		if n != *at {
			return fmt.Errorf("envelope store: %w: it is at %d", replica.ErrConflict, n)
		}
	}
	if err := s.delete(id); err != nil {
		return err
	}
	err := os.Remove(s.folder.blobPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
