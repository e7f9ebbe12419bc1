//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// raiseFiles lets this process, and those that it starts, have n files open.
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

// blocks returns the bytes that a file occupies on the disk: for a sparse file, only what was
// written. st_blocks counts units of 512 bytes, whatever the block size of the file system.
func blocks(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(s.Blocks) * 512
	}
	return info.Size()
}
