package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/sync/remote/page"
)

// BlobID is the SHA-256 of a blob's sealed bytes.
type BlobID [sha256.Size]byte

// String returns 64 hexadecimal characters.
func (b BlobID) String() string { return hex.EncodeToString(b[:]) }

func (s *Space) blobPath(id BlobID) string { return s.path("/blobs/" + id.String()) }

// PutBlob uploads sealed bytes and returns their id. It does not send again what
// the relay already has from an interrupted call.
func (s *Space) PutBlob(ctx context.Context, r io.ReadSeeker) (BlobID, error) {
	var id BlobID
	sum := sha256.New()
	size, err := rewound(r, 0, func() (int64, error) { return io.Copy(sum, r) })
	if err != nil {
		return id, fmt.Errorf("put blob: %w", err)
	}
	copy(id[:], sum.Sum(nil))
	if size == 0 || size > page.MaxBlob {
		return id, fmt.Errorf("put blob: %w: %d bytes, want 1 to %d", ErrRefused, size, page.MaxBlob)
	}
	offset, of, err := s.HasBlob(ctx, id)
	if err == nil && of != size { // the relay claims another size for this id: somebody began the upload with a wrong size
		offset, err = 0, s.DeleteBlob(ctx, id, nil)
	}
	if errors.Is(err, ErrNotFound) {
		offset, err = 0, nil
	}
	chunk := make([]byte, min(size, page.MaxChunk))
	for moved := 0; err == nil && offset < size; {
		part := chunk[:min(int64(len(chunk)), size-offset)]
		if _, err = rewound(r, offset, func() (int64, error) { n, err := io.ReadFull(r, part); return int64(n), err }); err != nil {
			break
		}
		var next int64
		next, err = s.putChunk(ctx, id, part, offset, size)
		if errors.Is(err, errOffset) && moved < 3 { // another call of ours was faster, or the relay removed a part
			moved, err = moved+1, nil
		} else if err == nil && next != offset+int64(len(part)) && next != size {
			err = fmt.Errorf("%w: blob is at %d after a chunk to %d", ErrAnswer, next, offset+int64(len(part)))
		}
		offset = next
	}
	if err != nil {
		return id, fmt.Errorf("put blob: %w", err)
	}
	return id, nil
}

func rewound(r io.Seeker, offset int64, f func() (int64, error)) (int64, error) {
	if _, err := r.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	return f()
}

func (s *Space) putChunk(ctx context.Context, id BlobID, part []byte, offset, size int64) (int64, error) {
	a, err := s.do(ctx, call{method: "PUT", path: s.blobPath(id), body: part, field: map[string]string{
		"Content-Range": fmt.Sprintf("bytes %d-%d/%d", offset, offset+int64(len(part))-1, size)}})
	if err != nil && !errors.Is(err, errOffset) {
		return 0, err
	}
	next, err2 := a.number(page.FieldOffset)
	if err2 != nil || next > size {
		return 0, errors.Join(err2, ErrAnswer)
	}
	return next, err
}

// HasBlob returns how many bytes of a blob the relay has, and the blob's size in
// bytes.
func (s *Space) HasBlob(ctx context.Context, id BlobID) (offset, size int64, err error) {
	a, err := s.do(ctx, call{method: "HEAD", path: s.blobPath(id)})
	if err != nil {
		return 0, 0, err
	}
	offset, err1 := a.number(page.FieldOffset)
	size, err2 := a.number(page.FieldLength)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, err
	}
	if offset > size {
		return 0, 0, fmt.Errorf("blob: %w: %d of %d bytes", ErrAnswer, offset, size)
	}
	return offset, size, nil
}

// GetBlob downloads a blob of at most limit bytes into f, after the bytes that f
// has already, and checks the hash of all. It returns [ErrBlob] if f then has
// other bytes.
func (s *Space) GetBlob(ctx context.Context, id BlobID, f io.ReadWriteSeeker, limit int64) (int64, error) {
	sum := sha256.New()
	have, err := rewound(f, 0, func() (int64, error) { return io.Copy(sum, f) })
	if err != nil {
		return 0, fmt.Errorf("get blob: %w", err)
	}
	_, size, err := s.HasBlob(ctx, id)
	if err != nil {
		return have, fmt.Errorf("get blob: %w", err)
	}
	if size > limit {
		return have, fmt.Errorf("get blob: %w: %d bytes, at most %d", ErrAnswer, size, limit)
	}
	for have < size {
		part, err := s.getChunk(ctx, id, have, min(have+page.MaxChunk, size), size)
		if err != nil {
			return have, fmt.Errorf("get blob: %w", err)
		}
		if _, err := f.Write(part); err != nil {
			return have, fmt.Errorf("get blob: %w", err)
		}
		sum.Write(part)
		have += int64(len(part))
	}
	if BlobID(sum.Sum(nil)) != id {
		return have, fmt.Errorf("get blob: %w", ErrBlob)
	}
	return have, nil
}

// BlobPiece downloads n bytes, at most [page.MaxChunk], of a blob of size bytes,
// starting at the offset from. The bytes are not checked.
func (s *Space) BlobPiece(ctx context.Context, id BlobID, from, n, size int64) ([]byte, error) {
	b, err := s.getChunk(ctx, id, from, from+n, size)
	if err != nil {
		return nil, fmt.Errorf("get a piece of a blob: %w", err)
	}
	return b, nil
}

func (s *Space) getChunk(ctx context.Context, id BlobID, from, to, size int64) ([]byte, error) {
	a, err := s.do(ctx, call{method: "GET", path: s.blobPath(id), limit: to - from,
		field: map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", from, to-1)}})
	if err != nil {
		return nil, err
	}
	want := fmt.Sprintf("bytes %d-%d/%s", from, to-1, strconv.FormatInt(size, 10))
	if int64(len(a.body)) != to-from || strings.TrimSpace(a.header.Get("Content-Range")) != want {
		return nil, fmt.Errorf("%w: %d bytes, %q, for %s", ErrAnswer, len(a.body), a.header.Get("Content-Range"), want)
	}
	return a.body, nil
}

// DeleteBlob deletes a blob; only an owner may. If at is not nil, it does so only
// if at is the cursor of the space's last delta, and returns [ErrConflict]
// otherwise.
func (s *Space) DeleteBlob(ctx context.Context, id BlobID, at *uint64) error {
	q := url.Values{}
	if at != nil {
		q.Set("cursor", strconv.FormatUint(*at, 10))
	}
	_, err := s.do(ctx, call{method: "DELETE", path: s.blobPath(id), query: q})
	return err
}
