//go:build unix

package atomicfile

import (
	"errors"
	"os"
)

// SyncDir makes files that were created, renamed and removed in dir survive a
// power failure.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
