//go:build unix

package journal

import (
	"errors"

	"golang.org/x/sys/unix"
)

// isFull tells the errors of a full disk, quota or file size limit.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
