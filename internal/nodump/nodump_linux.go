package nodump

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func protect() error {
	return errors.Join(limit(0), dumpable(0))
}

func allow() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil {
		return fmt.Errorf("core dumps: %w", err)
	}
	return errors.Join(limit(l.Max), dumpable(1))
}

// limit sets the soft limit: a hard limit, which nobody may raise again, would also prevent a dump
// that somebody asks for.
func limit(n uint64) error {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_CORE, &l)
	if err == nil {
		l.Cur = n
		err = unix.Setrlimit(unix.RLIMIT_CORE, &l)
	}
	if err != nil {
		return fmt.Errorf("core dumps: %w", err)
	}
	return nil
}

func dumpable(n uintptr) error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, n, 0, 0, 0); err != nil {
		return fmt.Errorf("core dumps: %w", err)
	}
	return nil
}
