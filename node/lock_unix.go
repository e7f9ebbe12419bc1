//go:build unix

package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/memory"
)

// homeLock is held on a file of the home by the one process that has it open.
// The kernel lets go of it when the process ends, however it ends.
type homeLock struct{ f *os.File }

func lockHome(path string) (*homeLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock home: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		pid, readErr := io.ReadAll(io.LimitReader(f, 32))
		err := fmt.Errorf("%w: by process %s", memory.ErrInUse, strings.TrimSpace(string(pid)))
		return nil, errors.Join(err, readErr, f.Close())
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil {
		return nil, fmt.Errorf("lock home: %w", errors.Join(err, f.Close()))
	}
	return &homeLock{f}, nil
}

func (l *homeLock) release() error { return l.f.Close() }
