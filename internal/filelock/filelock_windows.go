package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is the byte to lock, far beyond the end of the file. Windows
// prevents others from reading what is locked, and they have to read the
// process id.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 0x7fffffff} }

// tryLock takes the lock of f, or reports that another process has it.
func tryLock(f *os.File) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// ended always returns false, because no process inherits a lock here.
func ended(int) bool { return false }

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}
