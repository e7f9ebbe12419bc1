//go:build unix

package engine

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const canLimit = true

// script sets the limits and becomes the program. It is POSIX but for -v,
// which Linux's shells have; the limits are in force before the program's first
// instruction, which they would not be if they were set from outside.
const script = `ulimit -c 0
ulimit -t "$2"
ulimit -S -t "$1"
ulimit -f "$4"
ulimit -v "$3" 2>/dev/null
shift 4
exec "$@"`

// limited makes the command that runs path under lim.
func limited(ctx context.Context, lim Limits, path string, args []string) *exec.Cmd {
	cpu := int64((lim.CPU + time.Second - 1) / time.Second)
	full := append([]string{"-c", script, "sh",
		strconv.FormatInt(cpu, 10), strconv.FormatInt(cpu+1, 10), // SIGXCPU first, SIGKILL a second later
		strconv.FormatInt(lim.Memory>>10, 10), strconv.FormatInt(lim.File/512, 10), path}, args...)
	cmd := exec.CommandContext(ctx, "/bin/sh", full...)
	cmd.SysProcAttr = groupAttr()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// runGroup runs cmd to its end, and ends what is left of its process group.
// The thread is held because the death of the thread that started a process
// counts as its parent's.
func runGroup(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nobody left is the usual case
	return err
}

// ending tells a process that was ended by a limit, or by a signal.
func ending(ps *os.ProcessState, lim Limits) *Fault {
	if ps == nil {
		return nil
	}
	ws, ok := ps.Sys().(syscall.WaitStatus)
	if !ok {
		return nil
	}
	sig := syscall.Signal(0)
	switch {
	case ws.Signaled():
		sig = ws.Signal()
	case ws.ExitStatus() > 128 && ws.ExitStatus() < 160: // a shell's way to say so
		sig = syscall.Signal(ws.ExitStatus() - 128)
	default:
		return nil
	}
	used := ps.UserTime() + ps.SystemTime()
	if sig == syscall.SIGXCPU || sig == syscall.SIGKILL && used >= lim.CPU {
		return &Fault{Kind: Slow, Detail: "killed after " + lim.CPU.String() + " of processor time"}
	}
	return &Fault{Kind: Crashed, Detail: sig.String()}
}
