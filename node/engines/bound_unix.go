//go:build unix

package engines

import (
	"fmt"
	"os/exec"
	"syscall"
)

// mostData is how much memory an engine's process may use, in bytes. The programs
// that it runs have limits of their own.
const mostData = 1 << 30

// politeness is how much nicer this process is than the node (nice(2)).
const politeness = 5

// bound limits this process permanently.
func bound() error {
	lim := syscall.Rlimit{Cur: mostData, Max: mostData}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &lim); err != nil {
		return fmt.Errorf("limit the memory of an engine's process: %w", err)
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, politeness) // not essential, so an error is ignored
	return nil
}

// ownProcessGroup puts a process into a group of its own, so that signals from the terminal
// reach only the node.
func ownProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
