//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// raiseFiles lets this process, and those that it starts, have so many files open.
func raiseFiles(n uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if l.Cur >= n {
		return nil
	}
	if l.Max < n {
		return fmt.Errorf("only %d files may be open here, %d are needed: see ulimit -n, or --listeners", l.Max, n)
	}
	l.Cur = n
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
}
