package nodump

import (
	"fmt"
	"syscall"
)

func protect() error { return limit(func(*syscall.Rlimit) uint64 { return 0 }) }

func allow() error { return limit(func(l *syscall.Rlimit) uint64 { return l.Max }) }

func limit(n func(*syscall.Rlimit) uint64) error {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_CORE, &l)
	if err == nil {
		l.Cur = n(&l)
		err = syscall.Setrlimit(syscall.RLIMIT_CORE, &l)
	}
	if err != nil {
		return fmt.Errorf("core dumps: %w", err)
	}
	return nil
}
