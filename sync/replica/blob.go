package replica

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// sendBlob seals a blob under its own key and uploads it unless the relay has
// it. The key is derived from the epoch's key and the blob's content. Sealing
// the same content again therefore gives the same bytes, on any device of the
// space. An interrupted upload can continue, and the relay stores content that
// two members send only once. Without the epoch's key, nobody can tell which
// content the sealed bytes have, or that another space has the same content.
func (r *Replica) sendBlob(ctx context.Context, name, owner memory.ID) (*delta.Blob, error) {
	open := r.blob(ctx, name)
	sum, plain, err := digestOf(open)
	if err != nil {
		return nil, err
	}
	b, err := r.sealedAs(ctx, name, sum, plain, open)
	if err != nil {
		return nil, fmt.Errorf("send blob %s: %w", name, err)
	}
	b.Name, b.Memory = name.String(), owner
	if err := r.c.Journal.RecordDoubt(ctx, b.Sealed); err != nil { // from here on the relay may have the blob
		return nil, err
	}
	has, err := KeepsBlob(ctx, r.c.Remote, b, open)
	if err == nil && !has {
		err = fmt.Errorf("%w: it changed while it was sent", ErrBlob)
	}
	if err != nil {
		return nil, fmt.Errorf("send blob %s: %w", name, err)
	}
	r.report(func(s *Status) { s.Sent++ })
	return &b, nil
}

// sealedAs returns how a blob is sealed. If this member sealed it under this
// name before, it is sealed the same way. Otherwise the note of any member that
// sealed the same content in any epoch is used. Otherwise the blob is sealed
// under a key of the present epoch.
func (r *Replica) sealedAs(ctx context.Context, name memory.ID, sum envelope.Hash, plain int64, open func() (io.ReadCloser, error)) (delta.Blob, error) {
	var known []delta.Blob
	before, err := r.c.Journal.RemoteBlob(ctx, name)
	if err == nil {
		known = append(known, before)
	} else if !errors.Is(err, memory.ErrNotFound) {
		return before, err
	}
	var current delta.Blob
	for n := r.log.Epoch(); n > 0; n-- {
		epoch, ok := r.c.Keys.Epoch(n)
		if !ok {
			continue
		}
		key := epoch.Derive(delta.BlobLabel(sum))
		b := delta.Blob{Key: key.Bytes(), Plain: uint64(plain)}
		key.Zero()
		if n == r.log.Epoch() {
			current = b
		}
		alike, err := r.c.Journal.NotesByKey(ctx, b.Key)
		if err != nil {
			return b, err
		}
		known = append(known, alike...)
	}
	for _, b := range known { // a note may be wrong, whichever member wrote it
		if b.Plain != 0 && b.Plain != uint64(plain) {
			continue
		}
		if id, size, err := sealedOf(b, open); err != nil || id == b.Sealed && size == b.Size {
			return delta.Blob{Sealed: id, Size: size, Key: b.Key, Plain: b.Plain}, err
		}
	}
	if current.Key == nil {
		return current, fmt.Errorf("the key of epoch %d is not here", r.log.Epoch())
	}
	current.Sealed, current.Size, err = sealedOf(current, open)
	return current, err
}

// sealedOf returns the SHA-256 and the length of a blob's sealed bytes.
func sealedOf(b delta.Blob, open func() (io.ReadCloser, error)) (envelope.Hash, uint64, error) {
	var id envelope.Hash
	s, err := sealed(b, open)
	if err != nil {
		return id, 0, err
	}
	defer s.close()
	sum := sha256.New()
	size, err := io.Copy(sum, s)
	return envelope.Hash(sum.Sum(nil)), uint64(size), err
}

// sealed begins to seal a blob as its note says.
func sealed(b delta.Blob, open func() (io.ReadCloser, error)) (*sealing, error) {
	key, err := seal.KeyFromBytes(b.Key)
	if err != nil {
		return nil, err
	}
	s := &sealing{key: key, open: open, plain: int64(b.Plain)}
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// digestOf returns the SHA-256 of a blob's plaintext and its length in bytes.
func digestOf(open func() (io.ReadCloser, error)) (envelope.Hash, int64, error) {
	f, err := open()
	if err != nil {
		return envelope.Hash{}, 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return envelope.Hash(sum.Sum(nil)), n, errors.Join(err, f.Close())
}

// KeepsBlob makes sure that a remote has a blob that was sent, with the same
// bytes as open returns. It uploads what is missing. It returns false, and
// uploads nothing, if the local bytes differ from those that were sent.
func KeepsBlob(ctx context.Context, at Blobs, b delta.Blob, open func() (io.ReadCloser, error)) (bool, error) {
	id, size, err := sealedOf(b, open)
	if err != nil || id != b.Sealed || size != b.Size {
		return false, err
	}
	s, err := sealed(b, open)
	if err != nil {
		return false, err
	}
	defer s.close()
	if id, err = at.Upload(ctx, s); err != nil {
		return false, fmt.Errorf("blob %s: %w", b.Name, err)
	}
	return id == b.Sealed, nil
}

// ShowsBlob is KeepsBlob for a remote that is not trusted: the remote must also
// return a piece of the blob at a random offset. It returns [ErrBlob] if the
// piece is wrong.
func ShowsBlob(ctx context.Context, at Blobs, b delta.Blob, open func() (io.ReadCloser, error)) (bool, error) {
	has, err := KeepsBlob(ctx, at, b, open)
	if err != nil || !has {
		return false, err
	}
	return true, compareBlob(ctx, at, b, open)
}

// shownPiece is the number of sealed bytes that a remote has to return as
// proof.
const shownPiece = 4096

// compareBlob makes a remote return a piece of a blob that it claims to have, and
// compares it.
func compareBlob(ctx context.Context, at Blobs, b delta.Blob, open func() (io.ReadCloser, error)) error {
	size := int64(b.Size)
	n := min(shownPiece, size)
	from := rand.Int64N(size - n + 1)
	s, err := sealed(b, open)
	if err != nil {
		return err
	}
	defer s.close()
	want := make([]byte, n)
	if _, err := s.Seek(from, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.ReadFull(s, want); err != nil {
		return err
	}
	got, err := at.Piece(ctx, b.Sealed, from, n, size)
	if err != nil {
		return fmt.Errorf("%d bytes from %d on: %w", n, from, err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: %d bytes from %d on", ErrBlob, n, from)
	}
	return nil
}

// resendBlob returns the op of a blob that was sent earlier and is no longer on
// this device.
func (r *Replica) resendBlob(ctx context.Context, name, owner memory.ID) (*delta.Blob, error) {
	b, err := r.c.Journal.RemoteBlob(ctx, name)
	if err == nil && b.Memory != owner {
		err = memory.ErrNotFound
	}
	return &b, err
}

// sealing reads a blob's sealed bytes from any offset. Seeking back reads the
// plaintext again.
type sealing struct {
	key   *seal.Key
	open  func() (io.ReadCloser, error)
	plain int64 // length of the plaintext that is padded, in bytes; 0: no padding
	f     io.ReadCloser
	r     io.Reader
	at    int64
}

func (s *sealing) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.at += int64(n)
	return n, err
}

// Seek moves to an offset from the start.
func (s *sealing) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 {
		return 0, errors.New("sealed blob: seeks from its start only")
	}
	if s.f == nil || offset < s.at {
		s.rewind()
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

// close ends the reading and erases the key.
func (s *sealing) close() {
	s.rewind()
	s.key.Zero()
}

func (s *sealing) rewind() {
	if s.f != nil {
		s.f.Close()
	}
	s.f = nil
}

// FetchBlob downloads a blob that another member sent. It succeeds at once if
// the blob is on this disk, and returns memory.ErrNotFound if no delta names
// it.
func (r *Replica) FetchBlob(ctx context.Context, name memory.ID) error {
	ctx, done, err := r.begin(ctx) // two calls must not write one blob
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

// fetch downloads a sealed blob and gives the opened bytes to the journal. A
// partial download stays for the next try.
func (r *Replica) fetch(ctx context.Context, b delta.Blob) error {
	key, err := seal.KeyFromBytes(b.Key)
	if err != nil {
		return err
	}
	defer key.Zero()
	if err := os.MkdirAll(r.c.Temp, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(r.part(b.Sealed), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = r.c.Remote.Download(ctx, b.Sealed, f, int64(b.Size))
	all := err == nil
	if all {
		err = r.keepBlob(ctx, b, key, f)
	}
	err = errors.Join(err, f.Close())
	if all && ctx.Err() == nil || errors.Is(err, ErrBlob) { // the blob is stored, or the downloaded bytes are useless
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// keepBlob gives the opened bytes of a downloaded blob to the journal.
func (r *Replica) keepBlob(ctx context.Context, b delta.Blob, key *seal.Key, f io.ReadSeeker) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	plain := seal.OpenStream(key, f)
	if b.Plain > 0 {
		plain = seal.Unpad(plain, int64(b.Plain))
	}
	return r.c.Journal.KeepBlob(ctx, b, plain)
}
