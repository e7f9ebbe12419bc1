package badgerfile

import (
	"crypto/aes"
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
)

const (
	maxBlock    = 288 << 10 // bytes of the longest block: small values followed by one of 257 KiB, the store's longest
	usualBlock  = 8 << 10   // bytes of a block of small values; Badger ends one at 4096
	maxChecksum = 16        // bytes of a pb.Checksum, which has at most 13
	maxGap      = 256 << 10 // bytes of a table that are searched for the start of a block, which takes some seconds
)

// findBlocks finds the encrypted blocks of a table whose index can't be read. A
// block ends with the length of its checksum, followed by the IV. Decrypted
// with this IV, the length must be a small number; findBlocks looks for such
// places. The next block begins where the last one ended. If no end is found
// within the length of the longest block, the start was wrong, and findBlocks
// looks for the next block from any start.
func findBlocks(p []byte, key *pb.DataKey) (spans []span, err error) {
	cipher, err := aes.NewCipher(key.Data)
	if err != nil {
		return nil, fmt.Errorf("badger: table: %w", err)
	}
	gap := maxGap
	for from := 0; from < len(p); {
		s := span{from: from}
		var pad [2 * aes.BlockSize]byte
		for end := from + 4 + aes.BlockSize; s.to == 0 && end <= min(len(p), from+maxBlock); end++ {
			at := end - aes.BlockSize - 4 - from // position of the length in the block
			counter(pad[:aes.BlockSize], p[end-aes.BlockSize:end], at/aes.BlockSize)
			cipher.Encrypt(pad[:aes.BlockSize], pad[:aes.BlockSize])
			if at%aes.BlockSize > aes.BlockSize-4 {
				counter(pad[aes.BlockSize:], p[end-aes.BlockSize:end], at/aes.BlockSize+1)
				cipher.Encrypt(pad[aes.BlockSize:], pad[aes.BlockSize:])
			}
			if lengthUnder(p[from+at:], pad[at%aes.BlockSize:]) && blockLike(p[from:end], key) {
				s.to = end
			}
		}
		if s.to == 0 {
			if s, err = nextBlock(p[from:min(len(p), from+gap)], key); err != nil || s.to == 0 {
				return spans, err
			}
			gap -= s.to
			s.from, s.to = s.from+from, s.to+from
		}
		spans = append(spans, s)
		from = s.to
	}
	return spans, nil
}

// nextBlock finds the first block of the usual size in p, wherever it begins.
func nextBlock(p []byte, key *pb.DataKey) (span, error) {
	zeros, pad := make([]byte, usualBlock), make([]byte, usualBlock)
	for end := 4 + aes.BlockSize; end <= len(p); end++ {
		if err := y.XORBlock(pad, zeros, key.Data, p[end-aes.BlockSize:end]); err != nil {
			return span{}, fmt.Errorf("badger: table: %w", err)
		}
		length := end - aes.BlockSize - 4
		for from := max(0, length-usualBlock+4); from < length; from++ {
			if lengthUnder(p[length:], pad[length-from:]) && blockLike(p[from:end], key) {
				return span{from, end}, nil
			}
		}
	}
	return span{}, nil
}

// counter writes the counter block that is n blocks after the IV of a CTR
// stream.
func counter(to, iv []byte, n int) {
	copy(to, iv)
	for i := aes.BlockSize - 1; i >= 0 && n > 0; i-- {
		n += int(to[i])
		to[i] = byte(n)
		n >>= 8
	}
}

// lengthUnder reports whether four encrypted bytes are the length of a
// checksum.
func lengthUnder(p, pad []byte) bool {
	return binary.BigEndian.Uint32(p)^binary.BigEndian.Uint32(pad) <= maxChecksum
}

// blockLike reports whether a block's checksum is right or, if it is not,
// whether the offsets of its entries are plausible.
func blockLike(p []byte, key *pb.DataKey) bool {
	p, err := decrypt(p, key)
	if err != nil {
		return false
	}
	if blockSound(p) {
		return true
	}
	p, _, ok := cutTail(p)
	if !ok || len(p) < 4 {
		return false
	}
	n := uint64(binary.BigEndian.Uint32(p[len(p)-4:]))
	p = p[:len(p)-4]
	if n == 0 || n*4 > uint64(len(p)) {
		return false
	}
	starts := p[uint64(len(p))-4*n:]
	end := uint64(len(p)) - 4*n
	for last := uint64(0); len(starts) > 0; starts = starts[4:] {
		at := uint64(binary.LittleEndian.Uint32(starts))
		if at >= end || at <= last && last > 0 || last == 0 && at > 0 && uint64(len(starts)) == 4*n {
			return false
		}
		last = at
	}
	return true
}
