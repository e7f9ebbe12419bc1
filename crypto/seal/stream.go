package seal

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/locket-dev/locket/crypto/length"
)

// FORMAT of a stream: chunks of 65,536 bytes of plaintext, and a last one of 0
// to 65,536, each sealed by ChaCha20-Poly1305 (16 bytes more) without
// associated data. The nonce is
//
//	b11  number of the chunk from 0, big-endian
//	u8   1 for the last chunk, else 0
//
// as in age's payload. An empty last chunk stands only in an empty stream.
// Nothing is random: the same key and plaintext give the same bytes, so that
// an upload can go on where it broke off. A key seals one plaintext, ever.

const streamChunk = length.Chunk

// SealStream returns a reader of the sealed bytes of r.
func SealStream(key *Key, r io.Reader) io.Reader {
	return &stream{aead: streamAEAD(key), from: r, in: streamChunk, seal: true}
}

// OpenStream returns a reader of the plaintext. If a chunk is wrong, reading it
// returns [ErrOpen]; everything that was read before is right.
func OpenStream(key *Key, r io.Reader) io.Reader {
	return &stream{aead: streamAEAD(key), from: r, in: streamChunk + chacha20poly1305.Overhead}
}

func streamAEAD(key *Key) cipher.AEAD {
	k := key.Derive("stream")
	defer k.Zero()
	b := k.Bytes()
	defer clear(b)
	a, err := chacha20poly1305.New(b)
	if err != nil { // a key has 32 bytes
		panic("seal: " + err.Error())
	}
	return a
}

// stream converts the chunks of in. It reads one byte more than a chunk to find
// out whether the chunk is the last.
type stream struct {
	aead cipher.AEAD
	from io.Reader
	in   int
	seal bool
	n    uint64
	buf  []byte // read but not converted yet
	out  []byte // converted but not returned yet
	err  error
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.next()
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

func (s *stream) next() {
	if s.buf == nil {
		s.buf = make([]byte, 0, s.in+1)
	}
	n, err := io.ReadFull(s.from, s.buf[len(s.buf):s.in+1])
	s.buf = s.buf[:len(s.buf)+n]
	last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !last {
		s.err = err
		return
	}
	chunk := s.buf
	if !last {
		chunk = s.buf[:s.in]
	} else {
		s.err = io.EOF
	}
	var nonce [chacha20poly1305.NonceSize]byte
	binary.BigEndian.PutUint64(nonce[3:11], s.n)
	if last {
		nonce[11] = 1
	}
	if s.seal {
		s.out = s.aead.Seal(s.out[:0], nonce[:], chunk, nil)
	} else {
		out, err := s.aead.Open(s.out[:0], nonce[:], chunk, nil)
		if err != nil || last && len(out) == 0 && s.n > 0 {
			s.out, s.err = nil, fmt.Errorf("%w: chunk %d of a stream", ErrOpen, s.n)
			return
		}
		s.out = out
	}
	s.n++
	rest := copy(s.buf, s.buf[len(chunk):])
	s.buf = s.buf[:rest]
}
