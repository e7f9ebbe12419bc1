package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/memory"
)

// DefaultReserve is the free space that the store leaves alone, in bytes.
// Badger maps its write-ahead logs into memory, and dies of SIGBUS when a page
// of one can't be had: the reserve is several times what it lays out ahead
// (three logs of twice the memtable's 4 MB, a value log of 2 MB, one table).
const DefaultReserve = 64 << 20

// openNeeds is what Badger lays out when it opens, and a table or two: a store
// opens below the reserve, so that it can be read and closed in order.
const openNeeds = 32 << 20

// FreeSpace of the file system that holds dir, for whoever is not root, in bytes.
func FreeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("store: free space of %s: %w", dir, err)
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// roomAbove fails with [memory.ErrNoSpace] unless need bytes fit above a reserve.
func (s *Store) roomAbove(reserve, need uint64) error {
	free, err := s.opt.Free(s.opt.Dir)
	if err != nil {
		return err
	}
	if free < reserve+need {
		return fmt.Errorf("store: %d bytes free, %d kept in reserve: %w", free, reserve, memory.ErrNoSpace)
	}
	return nil
}

// used is what the files under dir take on disk, in bytes: Badger lays logs
// out ahead, so that their lengths say nothing. It asks the disk, since
// Badger's own figure is a minute old, and 0 for the first.
func used(dir string) (bytes uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					bytes += uint64(st.Blocks) * 512
				}
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("store: size: %w", err)
	}
	return bytes, nil
}
