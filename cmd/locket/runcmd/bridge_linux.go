package runcmd

import (
	"os/exec"
	"syscall"
)

// underDaemon gives a process a group of its own, so that signals from the terminal go to
// the daemon alone. The process is told to end when the daemon's thread that started it
// ends, which is how it hears of a daemon that was killed.
func underDaemon(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
