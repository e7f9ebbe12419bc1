//go:build unix && !freebsd && !dragonfly

package jail

import "golang.org/x/sys/unix"

func set(r *unix.Rlimit, v uint64) { r.Cur, r.Max = v, v }
