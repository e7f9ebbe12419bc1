// Package filelock keeps a folder to one process at a time.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Lock is a lock of the operating system on a file that names the holder. The
// kernel lets go of it when the process ends, however it ends.
type Lock struct{ f *os.File }

// Take locks the file at path, which is made where it is not there, or is
// memory.ErrInUse with the id of the process that has it.
func Take(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	taken, err := tryLock(f)
	for began := time.Now(); err == nil && taken && ended(holder(f)) && time.Since(began) < afterDeath; taken, err = tryLock(f) {
		time.Sleep(afterDeath / 200) // no system call waits for the end of a process that is not a child
	}
	if err != nil || taken {
		defer f.Close()
		if !taken {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if pid := holder(f); pid != 0 {
			return nil, fmt.Errorf("%s is held by process %d: %w", path, pid, memory.ErrInUse)
		}
		return nil, fmt.Errorf("%s is held by another process: %w", path, memory.ErrInUse)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, errors.Join(err, f.Close()))
	}
	return &Lock{f}, nil
}

// afterDeath is how long a lock may outlive the process that took it: a child of
// it that was between fork and exec when it was killed has a copy of the descriptor.
const afterDeath = 2 * time.Second

// holder is the process that the file names; 0: none.
func holder(f *os.File) int {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	return pid
}

// Release leaves the file where it is: to remove it would let a third process
// lock a new file while a second one waits on the old. It unlocks before it
// closes: a child that is between fork and exec has a copy of the descriptor.
func (l *Lock) Release() error {
	return errors.Join(l.f.Truncate(0), unlock(l.f), l.f.Close())
}
