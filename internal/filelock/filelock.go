// Package filelock makes sure that only one process at a time uses a folder.
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

// Lock is a lock of the operating system on a file that contains the holder's
// process id. The kernel releases it when the process ends in any way.
type Lock struct{ f *os.File }

// Take locks the file at path, and makes it if there is none. It returns
// memory.ErrInUse with the id of the process that has the lock.
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

// afterDeath is how long a lock can remain after its process has ended. A child
// that was between fork and exec when the process was killed has a copy of the
// descriptor.
const afterDeath = 2 * time.Second

// holder returns the process id in the file; 0: none.
func holder(f *os.File) int {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	return pid
}

// Release releases the lock and leaves the file. If it removed the file, a
// third process could lock a new file while a second one waits for the old. It
// unlocks before it closes, because a child between fork and exec has a copy of
// the descriptor.
func (l *Lock) Release() error {
	return errors.Join(l.f.Truncate(0), unlock(l.f), l.f.Close())
}
