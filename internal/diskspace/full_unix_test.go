//go:build unix

package diskspace

import "golang.org/x/sys/unix"

const full = unix.ENOSPC
