// Package diskspace reports how much room a disk has, how much a folder takes,
// and whether an error means that the disk is full.
package diskspace

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Used returns how many bytes the files under dir take on disk. Where the
// system reports it, a file that was allocated in advance counts with the bytes
// that it takes, which may be fewer than its length. Files that are removed
// meanwhile do not count.
func Used(dir string) (bytes uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				bytes += allocated(info)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		return err
	})
	return bytes, err
}
