//go:build !linux

package runcmd

import "os/exec"

// underDaemon does nothing on systems where a process can't be tied to the one that started it.
func underDaemon(*exec.Cmd) {}
