package delta

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/sync/canonical"
)

// DictionaryID is the number of the dictionary that is used for writing. The frame
// names it. A new dictionary gets a new number. The old one stays, because older
// bodies need it.
const DictionaryID = 1

// dictionary is in zstd's format, made by internal/testing/dictionary from generated
// days. It must never change.
//
//go:embed dictionary.1
var dictionary []byte

var encoder = sync.OnceValue(func() *zstd.Encoder {
	return canonical.Must(zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(4<<20), zstd.WithLowerEncoderMem(true)))
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	return canonical.Must(zstd.NewReader(nil, zstd.WithDecoderDicts(dictionary), zstd.WithDecoderMaxMemory(MaxPlain),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)))
})

func compress(plain []byte) []byte { return encoder().EncodeAll(plain, nil) }

// decompress decompresses one frame, which must state its content size. The frame
// has no checksum, because the body is sealed.
func decompress(frame []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		return nil, fmt.Errorf("%w: frame: %v", ErrForm, err)
	}
	if h.Skippable || !h.HasFCS || h.HasCheckSum || h.FrameContentSize > MaxPlain || h.DictionaryID != DictionaryID {
		return nil, fmt.Errorf("%w: frame of %d bytes under dictionary %d", ErrForm, h.FrameContentSize, h.DictionaryID)
	}
	if end, ok := frameEnd(frame, h.HeaderSize); !ok || end != len(frame) {
		return nil, fmt.Errorf("%w: not one frame and nothing else", ErrForm)
	}
	plain, err := decoder().DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: frame: %v", ErrForm, err)
	}
	if uint64(len(plain)) != h.FrameContentSize {
		return nil, fmt.Errorf("%w: a frame of %d bytes, not of %d", ErrForm, len(plain), h.FrameContentSize)
	}
	return plain, nil
}

// frameEnd walks through a frame's blocks (RFC 8878, 3.1.1.2) and returns the offset
// at which the last one ends. The decoder itself would ignore further frames and
// padding.
func frameEnd(frame []byte, at int) (end int, ok bool) {
	for at+3 <= len(frame) {
		head := uint32(frame[at]) | uint32(frame[at+1])<<8 | uint32(frame[at+2])<<16
		size := int(head >> 3)
		if head>>1&3 == 1 { // one byte that is repeated
			size = 1
		}
		at += 3 + size
		if head&1 == 1 {
			return at, true
		}
	}
	return 0, false
}
