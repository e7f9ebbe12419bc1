//go:build unix

package atomicfile

import (
	"errors"
	"os"
)

// SyncDir makes what was created, renamed and removed in dir outlast a loss of
// power.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
