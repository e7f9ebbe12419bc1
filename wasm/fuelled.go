package wasm

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// fuelledFile holds the rewritten module. For a plugin in Go, rewriting takes as long as the rest
// of loading from the cache. It is part of a sealed entry.
//
//	length of what follows 4, fuel.Info as JSON, the rewritten module
const fuelledFile = "fuelled"

// readFuelled returns the rewritten module of an entry with a valid seal; ok is false if there is
// none, or if cacheDir is empty.
func readFuelled(cacheDir string) (rewritten []byte, info *fuel.Info, ok bool) {
	if cacheDir == "" {
		return nil, nil, false
	}
	b, err := os.ReadFile(filepath.Join(cacheDir, fuelledFile))
	if err != nil || len(b) < 4 {
		return nil, nil, false // it will be made again
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return nil, nil, false
	}
	info = &fuel.Info{}
	if err := json.Unmarshal(b[:n], info); err != nil {
		return nil, nil, false
	}
	return b[n:], info, true
}

// writeFuelled stores a rewritten module in an entry that is not sealed yet.
func writeFuelled(cacheDir string, rewritten []byte, info *fuel.Info) error {
	if cacheDir == "" {
		return nil
	}
	head, err := json.Marshal(info)
	if err == nil {
		b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(head)+len(rewritten)), uint32(len(head)))
		err = os.WriteFile(filepath.Join(cacheDir, fuelledFile), append(append(b, head...), rewritten...), 0o600)
	}
	if err != nil {
		return fmt.Errorf("plugin cache: %w", err)
	}
	return nil
}
