package store

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// FORMAT of a pressed plaintext: one zstd frame (RFC 8878) under the dictionary in
// dictionary.1, without the frame's magic number and without a checksum.
//
// Records of one kind are alike, and most are small, so the dictionary makes them less
// than half as long. It was made from generated days by internal/testing/dictionary,
// and must never change: a new one gets a new number.

//go:embed dictionary.1
var dictionary []byte

// frameMagic begins every frame.
const frameMagic = "\x28\xb5\x2f\xfd"

var (
	presser = sync.OnceValue(func() *zstd.Encoder {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
			zstd.WithSingleSegment(true), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(512<<10), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options above are wrong
		}
		return w
	})
	unpresser = sync.OnceValue(func() *zstd.Decoder {
		r, err := zstd.NewReader(nil, zstd.WithDecoderDicts(dictionary), zstd.WithDecoderMaxMemory(maxValue), zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic(err)
		}
		return r
	})
)

// press returns a plaintext in the shorter form. ok is false if that is not shorter.
func press(plain []byte) (pressed []byte, ok bool) {
	if len(plain) < 16 {
		return nil, false
	}
	pressed = presser().EncodeAll(plain, nil)[len(frameMagic):]
	return pressed, len(pressed) < len(plain)
}

// unpress returns the plaintext.
func unpress(pressed []byte) ([]byte, error) {
	plain, err := unpresser().DecodeAll(append([]byte(frameMagic), pressed...), nil)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return plain, nil
}
