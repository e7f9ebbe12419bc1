package pack

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// Shared is the name of the module of the extractors that have none of their own.
const Shared = "text"

// Compress makes a module small. dict is a module that is alike; nil: none is. It runs
// the command zstd, which needs 15 % fewer bytes than the library that decompresses.
func Compress(wasm, dict []byte) ([]byte, error) {
	args := []string{"--ultra", "-22", "--quiet", "--stdout", fmt.Sprintf("--stream-size=%d", len(wasm))}
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
	cmd.Stdin, cmd.Stderr = bytes.NewReader(wasm), &stderr
	z, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("compress with the command zstd, of the package zstd: %w %s", err, stderr.Bytes())
	}
	return z, nil
}

// Decompress gives the module again. dict is the one that Compress was given; with
// another one it fails.
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
