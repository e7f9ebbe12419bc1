// Package diskspace tells how much room a disk has, how much a folder takes,
// and whether an error says that there is no more.
package diskspace

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Used is what the files under dir take on disk, in bytes. A file that was laid
// out ahead takes less than its length, where the system says so. Files that go
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
