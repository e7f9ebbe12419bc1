//go:build linux || darwin || freebsd

package diskspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free returns the bytes that are free for ordinary users in the file system of
// dir.
func Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	blocks := max(0, int64(s.Bavail)) // FreeBSD counts below 0 if root's share is used
	return uint64(blocks) * uint64(s.Bsize), nil
}

// IsFull reports whether err means a full disk, an exhausted quota or the file
// size limit.
func IsFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// allocated returns the bytes that a file takes on disk; st_blocks counts 512
// bytes each.
func allocated(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Blocks) * 512
	}
	return uint64(info.Size())
}
