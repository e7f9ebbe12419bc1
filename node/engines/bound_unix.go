//go:build unix

package engines

import (
	"fmt"
	"os/exec"
	"syscall"
)

// mostData is how much memory an engine's process may have, in bytes. The programs
// that it runs have limits of their own.
const mostData = 1 << 30

// politeness is by how much this process is nicer than the node (nice(2)).
const politeness = 5

// bound keeps this process within limits, for good.
func bound() error {
	lim := syscall.Rlimit{Cur: mostData, Max: mostData}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &lim); err != nil {
		return fmt.Errorf("limit the memory of an engine's process: %w", err)
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, politeness) // a courtesy
	return nil
}

// apart gives a process a group of its own, so that signals from the terminal go to
// the node alone.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
