package engine

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// groupAttr returns the process a group of its own, and has it die with us.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// offline has cmd run in a network namespace of its own, where there is nothing but a loopback
// that is down. Some systems let no ordinary user make one; there nothing changes, and the log
// says so once.
func offline(cmd *exec.Cmd) {
	if namespaces() {
		isolate(cmd)
	}
}

// namespaces says whether this process may make namespaces. It tries once.
var namespaces = sync.OnceValue(func() bool {
	cmd := exec.Command("/bin/sh", "-c", ":")
	cmd.SysProcAttr = groupAttr()
	isolate(cmd)
	return able(cmd.Run())
})

// able says whether a process could be started in a namespace, and logs why not.
func able(err error) bool {
	if err != nil {
		withNetwork(err.Error())
	}
	return err == nil
}

func isolate(cmd *exec.Cmd) {
	a := cmd.SysProcAttr
	a.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}
