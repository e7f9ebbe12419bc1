package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// BlobReader reads a blob from any offset. It caches one decrypted chunk, and
// must be used by one goroutine only. If a byte was changed, it returns a
// [Damage].
type BlobReader struct {
	io.SectionReader // Read, ReadAt, Seek, Size
	at               *chunkReader
}

// Close closes the file.
func (b *BlobReader) Close() error {
	b.at.key.Zero()
	return b.at.f.Close()
}

// chunkReader is the io.ReaderAt of a BlobReader.
type chunkReader struct {
	f     *os.File
	id    memory.ID
	key   *seal.Key
	size  int64
	have  int64 // number of the chunk in plain; -1: none
	plain []byte
	buf   []byte
}

func (s *Store) openBlob(id memory.ID, r blobRecord) (*BlobReader, error) {
	key, err := seal.KeyFromBytes(r.Key)
	if err != nil || r.Size < 0 {
		return nil, damaged(blobKey(id), "its record is not one of a blob")
	}
	f, err := os.Open(s.blobPath(id))
	if err != nil {
		return nil, fmt.Errorf("store: blob: %w", err)
	}
	c := &chunkReader{f: f, id: id, key: key, size: r.Size, have: -1, buf: make([]byte, min(r.Size, chunkSize)+seal.Overhead)}
	magic := make([]byte, len(blobMagic))
	st, err := f.Stat()
	if err == nil {
		_, err = f.ReadAt(magic, 0)
	}
	if err != nil || string(magic) != blobMagic || st.Size() != c.fileSize() {
		f.Close()
		return nil, damaged(blobKey(id), "its file is cut short, or not a blob")
	}
	return &BlobReader{*io.NewSectionReader(c, 0, r.Size), c}, nil
}

// chunks returns the number of chunks; an empty blob has one.
func (c *chunkReader) chunks() int64 { return max(1, (c.size+chunkSize-1)/chunkSize) }

func (c *chunkReader) fileSize() int64 {
	return int64(len(blobMagic)) + c.size + c.chunks()*seal.Overhead
}

// ReadAt implements io.ReaderAt.
func (c *chunkReader) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < c.size {
		if err := c.chunk(off / chunkSize); err != nil {
			return n, err
		}
		got := copy(p[n:], c.plain[off%chunkSize:])
		n, off = n+got, off+int64(got)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (c *chunkReader) chunk(n int64) error {
	if n == c.have {
		return nil
	}
	c.have = -1
	last := n == c.chunks()-1
	size := int64(chunkSize)
	if last {
		size = c.size - n*chunkSize
	}
	buf := c.buf[:size+seal.Overhead]
	if _, err := c.f.ReadAt(buf, int64(len(blobMagic))+n*sealedSize); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("store: blob %s: %w", c.id, err)
	}
	plain, err := c.key.Open(c.plain[:0], buf, chunkAD(c.id, uint64(n), last))
	if err != nil || int64(len(plain)) != size {
		return damaged(blobKey(c.id), fmt.Sprintf("chunk %d of its file was altered", n))
	}
	c.plain, c.have = plain, n
	return nil
}

// checkBlob reads a whole blob, to check it.
func (s *Store) checkBlob(key []byte, r blobRecord) error {
	b, err := s.openBlob(memory.ID(key[1:]), r)
	if err != nil {
		return err
	}
	defer b.Close()
	for n := range b.at.chunks() {
		if err := b.at.chunk(n); err != nil {
			return err
		}
	}
	return nil
}
