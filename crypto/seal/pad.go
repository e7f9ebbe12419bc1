package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/crypto/length"
)

// Pad returns a reader of the size bytes of r, followed by zeros up to
// [length.Padded]. If r has another length, reading fails.
func Pad(r io.Reader, size int64) io.Reader {
	return &padding{from: r, size: size, padded: length.Padded(size)}
}

// Unpad returns a reader of the size bytes of r before the padding, which must
// be zeros up to [length.Padded]. If it is not, the last read returns
// [ErrOpen], so the caller must not use the bytes before it has read to the
// end.
func Unpad(r io.Reader, size int64) io.Reader {
	return &padding{from: r, size: size, padded: length.Padded(size), unpad: true}
}

type padding struct {
	from         io.Reader
	size, padded int64
	at           int64
	unpad        bool
}

func (p *padding) Read(b []byte) (int, error) {
	switch {
	case len(b) == 0:
		return 0, nil
	case p.at < p.size:
		n, err := p.from.Read(b[:min(int64(len(b)), p.size-p.at)])
		p.at += int64(n)
		if errors.Is(err, io.EOF) {
			err = nil
			if p.at < p.size {
				err = fmt.Errorf("%w: ends after %d bytes of %d", ErrOpen, p.at, p.size)
			}
		}
		return n, err
	case p.unpad:
		return 0, p.zeros()
	case p.at == p.size:
		if err := p.ends(); err != nil {
			return 0, err
		}
	}
	if p.at == p.padded {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), p.padded-p.at))
	clear(b[:n])
	p.at += int64(n)
	return n, nil
}

// zeros reads the padding, and returns io.EOF if it is correct.
func (p *padding) zeros() error {
	b := make([]byte, min(p.padded-p.at, streamChunk))
	for p.at < p.padded {
		part := b[:min(p.padded-p.at, int64(len(b)))]
		n, err := io.ReadFull(p.from, part)
		p.at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil && len(bytes.TrimLeft(part, "\x00")) > 0 {
			err = fmt.Errorf("%w: padding", ErrOpen)
		}
		if err != nil {
			return err
		}
	}
	if err := p.ends(); err != nil {
		return err
	}
	return io.EOF
}

// ends checks that nothing more comes.
func (p *padding) ends() error {
	n, err := io.ReadFull(p.from, make([]byte, 1))
	if n > 0 {
		return fmt.Errorf("%w: more than %d bytes", ErrOpen, p.at)
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
