//go:build linux || darwin || freebsd

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the flock of f, or reports that another process has it.
func tryLock(f *os.File) (taken bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// ended reports whether a process is known to have ended.
func ended(pid int) bool { return pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
