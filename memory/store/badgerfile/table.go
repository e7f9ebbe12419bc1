package badgerfile

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

// A table file of Badger v4 (its table/table.go and table/builder.go). Numbers are big-endian, and
// the index's checksum covers the bytes as they are on disk:
//
//	blocks    each followed by its IV, if it is encrypted
//	index     a flatbuffer, followed by its IV, if it is encrypted
//	4 bytes   length of the index
//	checksum  a pb.Checksum
//	4 bytes   length of the checksum
//
// and a block, when decrypted:
//
//	entries
//	4 bytes × n  where each entry begins
//	4 bytes      n
//	checksum     a pb.Checksum of all of the above
//	4 bytes      length of the checksum

var (
	errShort = errors.New("is too short, or a length in it is out of range")
	errIndex = errors.New("its index was altered")
)

// checkTable reads the whole file of a table and checks it. It refuses many
// tables that would make Badger end the process.
func checkTable(dir string, id uint64, key *pb.DataKey) error {
	name := table.IDToFilename(id)
	p, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return &Damage{Kind: "table file", File: name, What: "is missing"}
	}
	if err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	if err := tableSound(p, key); err != nil {
		return &Damage{Kind: "table file", File: name, What: err.Error()}
	}
	return nil
}

func tableSound(p []byte, key *pb.DataKey) (err error) {
	// The flatbuffers code does not check bounds. This returns an error for an
	// index that was altered together with its checksum.
	defer func() {
		if recover() != nil {
			err = errIndex
		}
	}()
	rest, sum, ok := cutTail(p)
	if !ok {
		return errShort
	}
	blocks, index, ok := cutTail(rest)
	if !ok {
		return errShort
	}
	if !sumFits(index, sum) {
		return errIndex
	}
	if index, err = decrypt(index, key); err != nil {
		return err
	}
	root := fb.GetRootAsTableIndex(index, 0)
	if root.OffsetsLength() == 0 {
		return errIndex
	}
	for n := range root.OffsetsLength() {
		var at fb.BlockOffset
		if !root.Offsets(&at, n) || uint64(at.Offset())+uint64(at.Len()) > uint64(len(blocks)) {
			return errIndex
		}
		block, err := decrypt(blocks[at.Offset():][:at.Len()], key)
		if err != nil {
			return err
		}
		if !blockSound(block) {
			return fmt.Errorf("its block at byte %d was altered", at.Offset())
		}
	}
	return nil
}

func blockSound(p []byte) bool {
	rest, sum, ok := cutTail(p)
	if !ok || len(rest) < 4 {
		return false
	}
	entries := uint64(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	return entries > 0 && entries*4 <= uint64(len(rest)-4) && sumFits(rest, sum)
}

// cutTail splits off the bytes before their own length, at the end of p.
func cutTail(p []byte) (rest, tail []byte, ok bool) {
	if len(p) < 4 {
		return nil, nil, false
	}
	p, size := p[:len(p)-4], uint64(binary.BigEndian.Uint32(p[len(p)-4:]))
	if size > uint64(len(p)) {
		return nil, nil, false
	}
	return p[:len(p)-int(size)], p[len(p)-int(size):], true
}

func sumFits(p, sum []byte) bool {
	want := &pb.Checksum{}
	if proto.Unmarshal(sum, want) != nil {
		return false
	}
	if want.Algo != pb.Checksum_CRC32C && want.Algo != pb.Checksum_XXHash64 {
		return false // Badger panics on others
	}
	return y.VerifyChecksum(p, want) == nil
}

// decrypt returns the decrypted p, or p itself without a key.
func decrypt(p []byte, key *pb.DataKey) ([]byte, error) {
	if key == nil {
		return p, nil
	}
	if len(p) < aes.BlockSize {
		return nil, errShort
	}
	p, iv := p[:len(p)-aes.BlockSize], p[len(p)-aes.BlockSize:]
	plain := make([]byte, len(p))
	if err := y.XORBlock(plain, p, key.Data, iv); err != nil {
		return nil, fmt.Errorf("can't be decrypted: %w", err)
	}
	return plain, nil
}

// span is the position of a block.
type span struct{ from, to int }

// spansOf reads a table's index with one key. The blocks must follow each other
// without gaps, from the first byte to the index. With a wrong key this is not
// the case.
func spansOf(index []byte, size int) (spans []span, ok bool) {
	defer func() {
		if recover() != nil { // the flatbuffers code does not check bounds
			ok = false
		}
	}()
	root := fb.GetRootAsTableIndex(index, 0)
	n := root.OffsetsLength()
	if n == 0 || n > size {
		return nil, false
	}
	end := 0
	for i := range n {
		var at fb.BlockOffset
		if !root.Offsets(&at, i) || int(at.Offset()) != end || at.Len() == 0 || int(at.Len()) > size-end {
			return nil, false
		}
		spans = append(spans, span{end, end + int(at.Len())})
		end += int(at.Len())
	}
	return spans, end == size
}

// blockEntries calls fn with the entries of a block whose offsets are
// plausible.
func blockEntries(p []byte, fn func(key, value []byte) error) error {
	p, _, ok := cutTail(p)
	if !ok || len(p) < 4 {
		return nil
	}
	n := uint64(binary.BigEndian.Uint32(p[len(p)-4:]))
	p = p[:len(p)-4]
	if n*4 > uint64(len(p)) {
		return nil
	}
	starts := p[len(p)-4*int(n):]
	p = p[:len(p)-4*int(n)]
	var base []byte
	for i := range int(n) {
		from, to := uint64(binary.LittleEndian.Uint32(starts[4*i:])), uint64(len(p))
		if i+1 < int(n) {
			to = uint64(binary.LittleEndian.Uint32(starts[4*i+4:]))
		}
		if from+4 > to || to > uint64(len(p)) {
			continue
		}
		e := p[from:to]
		shared, more := int(binary.LittleEndian.Uint16(e)), int(binary.LittleEndian.Uint16(e[2:]))
		if 4+more+2 > len(e) || shared > len(base) {
			continue
		}
		key := append(bytes.Clone(base[:shared]), e[4:4+more]...)
		if i == 0 {
			base = key
		}
		_, skip := binary.Uvarint(e[4+more+2:]) // the expiry
		if skip <= 0 {
			continue
		}
		if err := fn(key, e[4+more+2+skip:]); err != nil {
			return err
		}
	}
	return nil
}
