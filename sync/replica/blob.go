package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// sendBlob seals a blob under a key of its own and gives it to the relay. The
// key follows from the epoch's, this member, and what the blob is, so that sealing
// it again gives the same bytes: an upload goes on where it broke off, and what
// this member has sent already under another name lies there once. Nobody without
// the epoch's key can tell from the sealed bytes what they are, or that another
// space or member has the same.
func (r *Replica) sendBlob(ctx context.Context, name, owner memory.ID, epoch *seal.Key) (*delta.Blob, error) {
	open := func() (io.ReadCloser, error) {
		f, _, err := r.c.Journal.OpenBlob(ctx, name)
		return f, err
	}
	sum, plain, err := digestOf(open)
	if err != nil {
		return nil, err
	}
	key := epoch.Derive("padded blob of " + r.c.Member.String() + " " + sum.String())
	defer key.Zero()
	s := &sealing{key: key, open: open, plain: plain}
	defer s.close()
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	id, err := r.c.Remote.Upload(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("send blob %s: %w", name, err)
	}
	return &delta.Blob{Name: name.String(), Sealed: id, Size: uint64(s.size), Key: key.Bytes(), Memory: owner, Plain: uint64(plain)}, nil
}

// digestOf is the SHA-256 of a blob's plaintext, and how many bytes it has.
func digestOf(open func() (io.ReadCloser, error)) (envelope.Hash, int64, error) {
	f, err := open()
	if err != nil {
		return envelope.Hash{}, 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return envelope.Hash(sum.Sum(nil)), n, errors.Join(err, f.Close())
}

// KeepsBlob sees that a place has a blob that was sent, just as open gives it
// here: what it has not, it gets. false: what is here is another one than was sent.
func KeepsBlob(ctx context.Context, at Blobs, b delta.Blob, open func() (io.ReadCloser, error)) (bool, error) {
	key, err := seal.KeyFromBytes(b.Key)
	if err != nil {
		return false, err
	}
	defer key.Zero()
	s := &sealing{key: key, open: open, plain: int64(b.Plain)}
	defer s.close()
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	id, err := at.Upload(ctx, s)
	if err != nil {
		return false, fmt.Errorf("blob %s: %w", b.Name, err)
	}
	return id == b.Sealed, nil
}

// resentBlob is the op of a blob that was sent, and is not here any more.
func (r *Replica) resentBlob(ctx context.Context, name, owner memory.ID) (*delta.Blob, error) {
	b, err := r.c.Journal.RemoteBlob(ctx, name)
	if err == nil && b.Memory != owner {
		err = memory.ErrNotFound
	}
	return &b, err
}

// sealing is a blob's sealed bytes, from any place: who seeks back reads it
// anew.
type sealing struct {
	key   *seal.Key
	open  func() (io.ReadCloser, error)
	plain int64 // bytes that are padded; 0: as they are
	f     io.ReadCloser
	r     io.Reader
	at    int64
	size  int64 // the farthest that was read
}

func (s *sealing) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.at += int64(n)
	s.size = max(s.size, s.at)
	return n, err
}

// Seek goes to an offset from the start.
func (s *sealing) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 {
		return 0, errors.New("sealed blob: seeks from its start only")
	}
	if s.f == nil || offset < s.at {
		s.close()
		f, err := s.open()
		if err != nil {
			return 0, err
		}
		s.f, s.r, s.at = f, seal.SealStream(s.key, f), 0
		if s.plain > 0 {
			s.r = seal.SealStream(s.key, seal.Pad(f, s.plain))
		}
	}
	if _, err := io.CopyN(io.Discard, s, offset-s.at); err != nil {
		return s.at, err
	}
	return s.at, nil
}

func (s *sealing) close() {
	if s.f != nil {
		s.f.Close()
	}
	s.f = nil
}

// FetchBlob brings a blob that another member sent onto this disk. One that is
// here already is no error; one that nobody spoke of is memory.ErrNotFound.
func (r *Replica) FetchBlob(ctx context.Context, name memory.ID) error {
	ctx, done, err := r.begin(ctx) // two must not write one blob
	if err != nil {
		return err
	}
	defer done()
	have, _, err := r.c.Journal.OpenBlob(ctx, name)
	if err == nil {
		return have.Close()
	}
	if !errors.Is(err, memory.ErrNotFound) {
		return err
	}
	b, err := r.c.Journal.RemoteBlob(ctx, name)
	if err != nil {
		return err
	}
	if err := r.fetch(ctx, b); err != nil {
		return fmt.Errorf("fetch blob %s: %w", name, err)
	}
	return nil
}

func (r *Replica) fetch(ctx context.Context, b delta.Blob) error {
	key, err := seal.KeyFromBytes(b.Key)
	if err != nil {
		return err
	}
	defer key.Zero()
	if err := os.MkdirAll(r.c.Temp, 0o700); err != nil {
		return err
	}
	path := filepath.Join(r.c.Temp, b.Sealed.String()+".part")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	err = r.c.Remote.Download(ctx, b.Sealed, f, int64(b.Size))
	if errors.Is(err, ErrBlob) { // what lay there was of no use
		return errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	plain := seal.OpenStream(key, f)
	if b.Plain > 0 {
		plain = seal.Unpad(plain, int64(b.Plain))
	}
	if err := r.c.Journal.KeepBlob(ctx, b, plain); err != nil {
		return err
	}
	return os.Remove(path)
}
