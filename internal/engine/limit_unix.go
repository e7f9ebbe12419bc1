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

	"github.com/locket-dev/locket/internal/jail"
)

const canLimit = true

// script sets the limits and then becomes the program. It is POSIX except for
// -v, which the shells on Linux have. The limits apply from the program's first
// instruction, which would not be so if they were set from outside.
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

// runGroup runs cmd to its end, confined to a view, and kills the rest of its process group.
// The thread from which it starts is confined, too, and ends with the run: not before,
// because the end of the thread that started a process counts as the end of the parent.
func runGroup(cmd *exec.Cmd, v jail.View) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // it is never unlocked
		done <- func() error {
			cell, err := jail.Thread(v)
			if err != nil {
				return err
			}
			noteOpen(cell)
			if err := cmd.Start(); err != nil {
				return err
			}
			err = cmd.Wait()
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually there is none left
			return err
		}()
	}()
	return <-done
}

// ending returns a fault if a limit or a signal ended the process.
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
	case ws.ExitStatus() > 128 && ws.ExitStatus() < 160: // a shell reports a signal in this way
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
