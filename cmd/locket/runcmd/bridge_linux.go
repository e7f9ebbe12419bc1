package runcmd

import (
	"os/exec"
	"syscall"
)

// underDaemon puts a process into a group of its own, so that signals from the terminal reach only
// the daemon. The process gets a signal to end when the daemon's thread that started it ends; so it
// also ends if the daemon is killed.
func underDaemon(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
