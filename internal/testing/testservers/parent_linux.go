package testservers

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel end a program whose test was killed, or panicked.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
