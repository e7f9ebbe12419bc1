//go:build linux || darwin || freebsd

package journal

import "golang.org/x/sys/unix"

func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	blocks := max(0, int64(s.Bavail)) // FreeBSD counts below 0 into root's share
	return uint64(blocks) * uint64(s.Bsize), nil
}
