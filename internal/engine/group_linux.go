package engine

import "syscall"

// groupAttr returns the process a group of its own, and has it die with us.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
