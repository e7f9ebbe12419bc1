// Package car reads and writes CAR files of version 1: blocks of bytes, each named by its hash,
// after a header that names the root. Tools of IPFS and IPLD read them.
//
// It reads only what a bundle needs: one root, and blocks that are raw bytes or DAG-CBOR, named by
// SHA-256 in version 1 of the CID. Anything else is [ErrForm].
//
// FORMAT (https://ipld.io/specs/transport/car/carv1/)
//
//	varint    length of the header
//	header    DAG-CBOR: {"roots": [CID of the root], "version": 1}
//	then, for each block:
//	varint    length of what follows
//	36 bytes  CID: 0x01, the codec, 0x12 (SHA-256), 0x20, the hash
//	rest      the block
package car

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/fxamacker/cbor/v2"
)

var (
	// ErrForm: the file does not have this form.
	ErrForm = errors.New("not a CAR file of version 1 as Locket writes them")
	// ErrHash: a block does not have the hash that names it, or is missing.
	ErrHash = errors.New("a block of the CAR file is damaged or missing")
)

// The codecs of blocks (multicodec).
const (
	Raw     = 0x55
	DagCBOR = 0x71
)

const (
	sha256Code = 0x12
	linkTag    = 42 // tag of a link in DAG-CBOR
)

// CID names a block.
type CID [4 + sha256.Size]byte

// Of returns the name of a block.
func Of(codec byte, data []byte) (c CID) {
	c[0], c[1], c[2], c[3] = 1, codec, sha256Code, sha256.Size
	sum := sha256.Sum256(data)
	copy(c[4:], sum[:])
	return c
}

// String returns the usual text form: a b, followed by base32 in lower case.
func (c CID) String() string {
	return "b" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(c[:]))
}

// MarshalCBOR encodes a link as DAG-CBOR.
func (c CID) MarshalCBOR() ([]byte, error) {
	return cbor.Marshal(cbor.Tag{Number: linkTag, Content: append([]byte{0}, c[:]...)})
}

// UnmarshalCBOR decodes a link.
func (c *CID) UnmarshalCBOR(b []byte) error {
	want, err := c.MarshalCBOR() // all links have the same length, so the head is always the same
	head := len(want) - len(c)
	if err != nil || len(b) != len(want) || !bytes.Equal(b[:head], want[:head]) {
		return fmt.Errorf("%w: a link", ErrForm)
	}
	copy(c[:], b[head:])
	return nil
}

// Block is some bytes and their name.
type Block struct {
	CID  CID
	Data []byte
}

// New makes a block.
func New(codec byte, data []byte) Block { return Block{Of(codec, data), data} }

// headOf is the header that names a root: its bytes before and after the root's.
var headOf = [2][]byte{[]byte("\xa2\x65roots\x81\xd8\x2a\x58\x25\x00"), []byte("\x67version\x01")}

// Encode returns a file. The root comes first.
func Encode(root Block, rest []Block) []byte {
	var out []byte
	out = binary.AppendUvarint(out, uint64(len(headOf[0])+len(root.CID)+len(headOf[1])))
	out = append(append(append(out, headOf[0]...), root.CID[:]...), headOf[1]...)
	for _, b := range append([]Block{root}, rest...) {
		out = binary.AppendUvarint(out, uint64(len(b.CID)+len(b.Data)))
		out = append(append(out, b.CID[:]...), b.Data...)
	}
	return out
}

// File is a parsed CAR file. Each block was checked against its name.
type File struct {
	Root   CID
	blocks map[CID][]byte
}

// Get returns a block of the file, or [ErrHash].
func (f *File) Get(c CID) ([]byte, error) {
	b, ok := f.blocks[c]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrHash, c)
	}
	return b, nil
}

// Len returns the number of blocks.
func (f *File) Len() int { return len(f.blocks) }

// section splits off the bytes whose length a varint states.
func section(b []byte) (part, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) || size > 1 && b[size-1] == 0 {
		return nil, nil, fmt.Errorf("%w: a length", ErrForm)
	}
	return b[size : size+int(n)], b[size+int(n):], nil
}

// Decode parses a file. The blocks are parts of b.
func Decode(b []byte) (*File, error) {
	head, rest, err := section(b)
	if err != nil {
		return nil, err
	}
	root, ok := bytes.CutPrefix(head, headOf[0])
	if ok {
		root, ok = bytes.CutSuffix(root, headOf[1])
	}
	f := &File{blocks: map[CID][]byte{}}
	if !ok || len(root) != len(f.Root) {
		return nil, fmt.Errorf("%w: its header", ErrForm)
	}
	copy(f.Root[:], root)
	for n := 1; len(rest) > 0; n++ {
		var part []byte
		if part, rest, err = section(rest); err != nil {
			return nil, fmt.Errorf("block %d: %w", n, err)
		}
		var c CID
		if len(part) < len(c) {
			return nil, fmt.Errorf("block %d: %w", n, ErrForm)
		}
		copy(c[:], part)
		data := part[len(c):]
		if c[1] != Raw && c[1] != DagCBOR {
			return nil, fmt.Errorf("block %d: %w: codec %#x", n, ErrForm, c[1])
		}
		if Of(c[1], data) != c {
			return nil, fmt.Errorf("block %d: %w", n, ErrHash)
		}
		f.blocks[c] = data
	}
	_, err = f.Get(f.Root)
	return f, err
}
