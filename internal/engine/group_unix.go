//go:build unix && !linux

package engine

import (
	"os/exec"
	"sync"
	"syscall"
)

// groupAttr returns the process a group of its own.
func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// offline does nothing: there are no namespaces. The log says so once.
func offline(*exec.Cmd) { unable() }

var unable = sync.OnceFunc(func() { withNetwork("this system has no network namespaces") })
