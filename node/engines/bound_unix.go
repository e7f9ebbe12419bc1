//go:build unix

package engines

import (
	"fmt"
	"os/exec"
	"syscall"
)

// mostData is the memory that a process may have, in bytes. Programs that it
// runs have limits of their own.
const mostData = 1 << 30

// politeness is how far behind the node's own the work stands in line.
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

// apart puts a process into a group of its own: what a person types at the
// terminal is for the node.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
