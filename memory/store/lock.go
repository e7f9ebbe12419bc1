package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/memory"
)

// lockFile keeps a store to one process: an flock on a file that names the
// holder. The kernel lets go of it when the process ends, however it ends.
type lockFile struct{ f *os.File }

func lock(path string) (*lockFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("store: lock %s: %w", path, err)
		}
		b, _ := io.ReadAll(io.LimitReader(f, 32))
		if pid := strings.TrimSpace(string(b)); pid != "" {
			return nil, fmt.Errorf("store: %s is held by process %s: %w", path, pid, memory.ErrInUse)
		}
		return nil, fmt.Errorf("store: %s is held by another process: %w", path, memory.ErrInUse)
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		f.Close()
		return nil, fmt.Errorf("store: lock %s: %w", path, err)
	}
	return &lockFile{f}, nil
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// release leaves the file where it is: to remove it would let a third process
// lock a new file while a second one waits on the old. It unlocks before it
// closes: a child that is between fork and exec has a copy of the descriptor.
func (l *lockFile) release() error {
	return errors.Join(l.f.Truncate(0), unix.Flock(int(l.f.Fd()), unix.LOCK_UN), l.f.Close())
}
