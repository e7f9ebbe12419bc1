package testservers

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel end a program if its test was killed, or panicked.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
