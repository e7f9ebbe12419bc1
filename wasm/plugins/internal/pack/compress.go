package pack

import "github.com/klauspost/compress/zstd"

// Shared is the name of the module of the extractors that have none of their own.
const Shared = "text"

// dictionary is the number of the dictionary in a compressed module that has one.
const dictionary = 1

// window is how far back a module's compression looks, in bytes: over all of the
// dictionary.
const window = 8 << 20

// Compress makes a module small. dict is a module that is alike; nil: none is.
func Compress(wasm, dict []byte) ([]byte, error) {
	opts := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1)}
	if dict != nil {
		opts = append(opts, zstd.WithEncoderDictRaw(dictionary, dict), zstd.WithWindowSize(window))
	}
	enc, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(wasm, nil), enc.Close()
}

// Decompress gives the module again. dict is the one that Compress was given; with
// another one it fails.
func Decompress(z, dict []byte) ([]byte, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)}
	if dict != nil {
		opts = append(opts, zstd.WithDecoderDictRaw(dictionary, dict))
	}
	dec, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(z, nil)
}
