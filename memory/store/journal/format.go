package journal

import (
	"bytes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/locket-dev/locket/crypto/seal"
)

// FORMAT of a segment, version 1. The file NNNNNNNN.lkj is segment NNNNNNNN (decimal, from 1).
// Whole numbers are big-endian. A header, then frames.
//
//	header
//	offset  size  field
//	0       8     magic "locketJ\n"
//	8       2     version: 1
//	10      4     number of the segment, as in its name
//	14      8     created, ms since 1970-01-01 UTC
//	22      4     how many entries of the segment before were acknowledged
//	26      4     w: size of the wrapped key
//	30      w     the segment's key, 32 random bytes, as an age file to the
//	              journal's recipient (package seal)
//	30+w    32    MAC of bytes 0 to 30+w under the segment's key,
//	              label "journal header"
//
//	frame
//	offset  size  field
//	0       4     n: size of the sealed bytes, 16 more than the entry;
//	              the highest bit is set in an end frame
//	4       8     seq: number of the segment × 2^32 + index of the entry, from 1
//	12      4     CRC-32C of bytes 0 to 12 and of the sealed bytes
//	16      n     ChaCha20-Poly1305 of the entry under the segment's key;
//	              nonce: 4 bytes 0 (entry) or 1 (end), then seq;
//	              associated data: SHA-256 of the header, then bytes 0 to 12
//
// An end frame seals nothing, and has the seq of the last entry. It stands at the end of a segment
// that was finished properly; without it, the writer was killed, or abandoned the segment.
//
// The CRC is for the locked node, which can't decrypt what it wrote. With it, the node
// distinguishes a complete frame from a torn one, and finds the next complete frame after a damaged
// one. It does not protect against changes; the tag does. A seq is used only once with a key,
// because a segment in which a write failed is never written to again.

const (
	magic       = "locketJ\n"
	version     = 1
	headFixed   = 30
	macSize     = 32
	maxWrapped  = 16 << 10
	frameHead   = 16
	tagSize     = chacha20poly1305.Overhead
	endBit      = 1 << 31
	indexBits   = 32
	maxNumber   = 99_999_999
	fileSuffix  = ".lkj"
	headerLabel = "journal header"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func fileName(number uint32) string { return fmt.Sprintf("%08d%s", number, fileSuffix) }

func seqOf(number, index uint32) uint64 { return uint64(number)<<indexBits | uint64(index) }

// header is the unencrypted part at the beginning of a segment.
type header struct {
	created  time.Time
	previous uint32 // acknowledged entries of the previous segment
	wrapped  []byte
	raw      []byte // as on disk, including the MAC
}

func newHeader(number, previous uint32, created time.Time, to *seal.Recipient, key *seal.Key) (*header, error) {
	b := key.Bytes()
	defer clear(b)
	wrapped, err := seal.SealTo(to, b)
	if err != nil {
		return nil, err
	}
	h := &header{created: created, previous: previous, wrapped: wrapped}
	raw := append(make([]byte, 0, headFixed+len(wrapped)+macSize), magic...)
	raw = binary.BigEndian.AppendUint16(raw, version)
	raw = binary.BigEndian.AppendUint32(raw, number)
	raw = binary.BigEndian.AppendUint64(raw, uint64(created.UnixMilli()))
	raw = binary.BigEndian.AppendUint32(raw, previous)
	raw = binary.BigEndian.AppendUint32(raw, uint32(len(wrapped)))
	raw = append(raw, wrapped...)
	mac := key.MAC(headerLabel, raw)
	h.raw = append(raw, mac[:]...)
	return h, nil
}

// parseHeader parses the unencrypted part; [header.open] verifies it.
func parseHeader(b []byte, number uint32) (*header, error) {
	if len(b) < headFixed || !bytes.HasPrefix(b, []byte(magic)) {
		return nil, fmt.Errorf("no segment header")
	}
	if v := binary.BigEndian.Uint16(b[8:]); v != version {
		return nil, fmt.Errorf("version %d is not known", v)
	}
	if n := binary.BigEndian.Uint32(b[10:]); n != number {
		return nil, fmt.Errorf("header is that of segment %d", n)
	}
	n := binary.BigEndian.Uint32(b[26:]) // may exceed the range of int on 32-bit machines
	if n > maxWrapped || len(b) < headFixed+int(n)+macSize {
		return nil, fmt.Errorf("header is cut short")
	}
	w := int(n)
	return &header{
		created:  time.UnixMilli(int64(binary.BigEndian.Uint64(b[14:]))),
		previous: binary.BigEndian.Uint32(b[22:]),
		wrapped:  b[headFixed : headFixed+w],
		raw:      b[:headFixed+w+macSize],
	}, nil
}

// open verifies the header and returns the cipher of the frames.
func (h *header) open(id *seal.Identity) (*box, error) {
	b, err := seal.OpenWith(id, h.wrapped)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	key, err := seal.KeyFromBytes(b)
	if err != nil {
		return nil, err
	}
	defer key.Zero()
	body := len(h.raw) - macSize
	mac := key.MAC(headerLabel, h.raw[:body])
	if subtle.ConstantTimeCompare(mac[:], h.raw[body:]) != 1 {
		return nil, fmt.Errorf("%w: the header was changed", seal.ErrOpen)
	}
	return newBox(key, h.raw), nil
}

// box seals and opens the frames of one segment.
type box struct {
	aead cipher.AEAD
	hash [sha256.Size]byte
}

func newBox(key *seal.Key, header []byte) *box {
	b := key.Bytes()
	defer clear(b)
	aead, err := chacha20poly1305.New(b)
	if err != nil { // happens only for a key of another length
		panic("journal: " + err.Error())
	}
	return &box{aead, sha256.Sum256(header)}
}

func (b *box) bound(head []byte, end bool) (nonce, ad []byte) {
	nonce = make([]byte, chacha20poly1305.NonceSize)
	if end {
		nonce[3] = 1
	}
	copy(nonce[4:], head[4:12])
	return nonce, append(append(make([]byte, 0, len(b.hash)+12), b.hash[:]...), head[:12]...)
}

// seal appends a frame to dst.
func (b *box) seal(dst []byte, seq uint64, entry []byte, end bool) []byte {
	n := uint32(len(entry) + tagSize)
	if end {
		n |= endBit
	}
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, n)
	dst = binary.BigEndian.AppendUint64(dst, seq)
	dst = append(dst, 0, 0, 0, 0)
	nonce, ad := b.bound(dst[at:], end)
	dst = b.aead.Seal(dst, nonce, entry, ad)
	binary.BigEndian.PutUint32(dst[at+12:], checksum(dst[at:], dst[at+frameHead:]))
	return dst
}

// open returns the entry of a complete frame.
func (b *box) open(f *frame) ([]byte, error) {
	nonce, ad := b.bound(f.head[:], f.end)
	return b.aead.Open(nil, nonce, f.sealed, ad)
}

func checksum(head, sealed []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:12], castagnoli), castagnoli, sealed)
}
