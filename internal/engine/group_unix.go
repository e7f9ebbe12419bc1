//go:build unix && !linux

package engine

import "syscall"

// groupAttr returns the process a group of its own.
func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
