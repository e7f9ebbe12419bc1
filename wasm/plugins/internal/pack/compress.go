package pack

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// Shared is the name of the module for extractors without one of their own.
const Shared = "text"

// zstdBlock is how many bytes zstd (1.5) compresses as one block.
const zstdBlock = 128 << 10

// Compress compresses a module. dict is a similar module, or nil. It runs the command zstd, which
// needs 15 % fewer bytes than the library that decompresses.
//
// Depending on where its blocks begin, zstd may need up to 3 % more. So a first frame of less than
// a block is tried before the rest, and the smallest result is taken.
func Compress(wasm, dict []byte) (best []byte, err error) {
	for cut := 0; cut < min(zstdBlock, len(wasm)); cut += zstdBlock / 8 {
		var z []byte
		for _, part := range [][]byte{wasm[:cut], wasm[cut:]} {
			if len(part) == 0 {
				continue
			}
			f, err := frame(part, dict)
			if err != nil {
				return nil, err
			}
			z = append(z, f...)
		}
		if best == nil || len(z) < len(best) {
			best = z
		}
	}
	return best, nil
}

// frame compresses with the command zstd.
func frame(b, dict []byte) ([]byte, error) {
	args := []string{"--ultra", "-22", "--quiet", "--stdout", fmt.Sprintf("--stream-size=%d", len(b))}
	if dict != nil {
		dir, err := os.MkdirTemp("", "locket-plugins-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		file := filepath.Join(dir, "dictionary")
		if err := os.WriteFile(file, dict, 0o600); err != nil {
			return nil, err
		}
		args = append(args, "-D", file)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("zstd", args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(b), &stderr
	z, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("compress with the command zstd, of the package zstd: %w %s", err, stderr.Bytes())
	}
	return z, nil
}

// Decompress returns the module. dict has to be the one that Compress was given; with another one
// it fails.
func Decompress(z, dict []byte) ([]byte, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)}
	if dict != nil {
		opts = append(opts, zstd.WithDecoderDictRaw(0, dict)) // zstd gives it no number
	}
	dec, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(z, nil)
}
