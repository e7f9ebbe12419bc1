package store

import (
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

// A table file of Badger v4 (its table/table.go and table/builder.go); numbers
// are big-endian, the index's checksum is over what lies on disk:
//
//	blocks    each with its IV at its end, where it is encrypted
//	index     a flatbuffer, with its IV at its end, where it is encrypted
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

// checkTable reads the whole table file of that number. Badger ends the
// process on many a table that this refuses.
func checkTable(dir string, id uint64, key *pb.DataKey) error {
	name := table.IDToFilename(id)
	p, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return &Damage{Kind: "table file", Key: name, What: "is missing"}
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := tableSound(p, key); err != nil {
		return &Damage{Kind: "table file", Key: name, What: err.Error()}
	}
	return nil
}

func tableSound(p []byte, key *pb.DataKey) (err error) {
	// Flatbuffers are read without looking at bounds: whoever altered an index
	// and made its checksum fit gets an error too.
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

// cutTail splits off what stands before its own length, at the end of p.
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

// decrypt returns p as it was before encryption, or p itself without a key.
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
