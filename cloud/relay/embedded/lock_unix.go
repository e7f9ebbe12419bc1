//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock keeps a second process out of the folder; the system lets go of it when
// the process ends, however it ends.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another process serves from it: %w", err), f.Close())
	}
	return f, nil
}

// syncFolder makes the names in a folder last.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
